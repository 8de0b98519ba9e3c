#include "examples/digits/pool_step.hpp"

#include <cstdint>
#include <utility>

#include "examples/digits/classification.hpp"
#include "examples/digits/pooled_batch.hpp"

namespace troupe::digits {

pool_step::pool_step(const workshop& shop)
    : context_(shop.device.create_context().value()),
      pool_(context_.create_pool({.release_threshold_bytes = UINT64_MAX}).value()),
      stream_(context_.create_stream().value()),
      net_(context_, shop.net),
      input_(net_.tensors().front().floats),
      output_(net_.tensors().back().floats) {}

answers pool_step::run(const image_set& images) {
  classification result(images, net_.batch());
  for (std::size_t batch = 0; batch < result.batch_count(); ++batch) {
    result.begin(batch, input_);
    const auto scores = submit_pooled(net_, pool_, stream_, input_);
    stream_.copy(output_, scores).or_throw();
    stream_.synchronize().or_throw();
    result.finish(batch, output_);
  }
  return std::move(result).take();
}

} // namespace troupe::digits
