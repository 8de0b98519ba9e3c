#include "examples/digits/dataflow_step.hpp"

#include <algorithm>
#include <utility>

#include <gsl/gsl>

namespace troupe::digits {

dataflow_step::dataflow_step(const workshop& shop)
    : context_(shop.device.create_context().value()), net_(context_, *shop.net),
      flow_(dataflow::make(context_, {.streams = gsl::narrow<unsigned>(shop.streams)}).value()),
      input_(net_.batch() * image_pixels), output_(net_.batch() * class_count) {
  for (std::size_t index = 0; index < shop.buffers; ++index) {
    places_.push_back({net_.make_images(context_), {}, std::nullopt});
  }
}

answers dataflow_step::run(const image_set& images) {
  classification result(images, net_.batch());
  const auto batches = result.batch_count();
  for (std::size_t batch = 0; batch < batches; ++batch) {
    auto& next = places_[batch % places_.size()];
    collect(next, result);
    result.begin(batch, input_);
    submit(next, batch);
  }
  for (std::size_t turn = 0; turn < places_.size(); ++turn) {
    collect(places_[(batches + turn) % places_.size()], result);
  }
  return std::move(result).take();
}

void dataflow_step::submit(place& at, std::size_t batch) {
  context_.copy(at.images.elements<float>(), input_).or_throw();
  auto value = at.images;
  for (const auto& row : net_.rows()) {
    std::vector<tensor> inputs{value};
    for (const auto each : row.weights) inputs.push_back(net_.weights()[each]);
    value = flow_.apply(row.what, inputs).value();
  }
  at.probabilities = std::move(value);
  at.batch = batch;
}

void dataflow_step::collect(place& from, classification& result) {
  if (!from.batch) return;
  flow_.wait(from.probabilities).or_throw();
  context_.copy(output_, from.probabilities.elements<float>()).or_throw();
  result.finish(*from.batch, output_);
  from.probabilities = {};
  from.batch.reset();
}

} // namespace troupe::digits
