#include "examples/digits/stream_step.hpp"

#include <cstdint>
#include <utility>

#include "examples/digits/classification.hpp"
#include "examples/digits/pooled_batch.hpp"

namespace troupe::digits {

stream_step::stream_step(const workshop& shop)
    : context_(shop.device.create_context().value()),
      pool_(context_.create_pool({.release_threshold_bytes = UINT64_MAX}).value()),
      net_(context_, shop.net) {
  for (std::size_t index = 0; index < shop.streams; ++index) {
    auto& made = lanes_.emplace_back();
    made.commands = context_.create_stream().value();
    made.input.resize(net_.tensors().front().floats);
    made.output.resize(net_.tensors().back().floats);
  }
}

answers stream_step::run(const image_set& images) {
  classification result(images, net_.batch());
  const auto batches = result.batch_count();
  for (std::size_t batch = 0; batch < batches; ++batch) {
    auto& next = lanes_[batch % lanes_.size()];
    collect(next, result);
    result.begin(batch, next.input);
    next.scores = submit_pooled(net_, pool_, next.commands, next.input);
    next.batch = batch;
  }
  for (std::size_t turn = 0; turn < lanes_.size(); ++turn) {
    collect(lanes_[(batches + turn) % lanes_.size()], result);
  }
  return std::move(result).take();
}

void stream_step::collect(lane& from, classification& result) {
  if (!from.batch) return;
  from.commands.copy(from.output, from.scores).or_throw();
  from.commands.synchronize().or_throw();
  result.finish(*from.batch, from.output);
  from.scores = {};
  from.batch.reset();
}

} // namespace troupe::digits
