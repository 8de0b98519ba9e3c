#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "examples/digits/classification.hpp"
#include "examples/digits/pipeline_step.hpp"

namespace troupe::digits {

/// Classifies `images`, `batch_size` at a time, by `sets` that take batches in turn. A set has `input`
/// for the pixels and says in `batch` which it is at. Before it gets its next one, and at the end,
/// `collect(set, result)` takes the answers of its last; `submit(set)` begins what is in its `input`.
template <class Set, class Submit, class Collect>
answers classify_in_turn(std::vector<Set>& sets, const image_set& images, std::size_t batch_size,
                         Submit submit, Collect collect) {
  classification result(images, batch_size);
  const auto batches = result.batch_count();
  for (std::size_t batch = 0; batch < batches; ++batch) {
    auto& next = sets[batch % sets.size()];
    collect(next, result);
    result.begin(batch, {next.input.data(), next.input.size()});
    submit(next);
    next.batch = batch;
  }
  for (std::size_t turn = 0; turn < sets.size(); ++turn) {
    collect(sets[(batches + turn) % sets.size()], result);
  }
  return std::move(result).take();
}

} // namespace troupe::digits
