#include "examples/digits/naive_step.hpp"

#include <utility>

#include "examples/digits/classification.hpp"

namespace troupe::digits {

naive_step::naive_step(const workshop& shop)
    : context_(shop.device.create_context().value()),
      stream_(context_.create_stream().value()),
      net_(context_, shop.net) {
  for (const auto& tensor : net_.tensors()) host_.emplace_back(tensor.floats);
}

answers naive_step::run(const image_set& images) {
  classification result(images, net_.batch());
  for (std::size_t batch = 0; batch < result.batch_count(); ++batch) {
    result.begin(batch, host_.front());
    for (std::size_t index = 0; index < net_.size(); ++index) run_operator(index);
    result.finish(batch, host_.back());
  }
  return std::move(result).take();
}

void naive_step::run_operator(std::size_t index) {
  auto& host_input = host_[index];
  auto& host_output = host_[index + 1];
  auto input = context_.allocate<float>(host_input.size()).value();
  auto output = context_.allocate<float>(host_output.size()).value();
  stream_.copy(input, host_input).or_throw();
  net_.launch(stream_, index, input.span(), output.span()).or_throw();
  stream_.synchronize().or_throw();
  stream_.copy(host_output, output).or_throw();
  input.free().or_throw();
  output.free().or_throw();
}

} // namespace troupe::digits
