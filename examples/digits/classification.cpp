#include "examples/digits/classification.hpp"

#include <algorithm>
#include <utility>

#include <gsl/gsl>

#include "examples/digits/network.hpp"

namespace troupe::digits {

classification::classification(const image_set& images, std::size_t batch)
    : images_(&images), batch_(batch) {
  Expects(batch >= 1);
  const auto batches = (images.size() + batch - 1) / batch;
  answers_.predictions.resize(images.size());
  answers_.latencies_ms.resize(batches);
  begun_batches_.resize(batches);
}

void classification::begin(std::size_t index, std::span<float> input) {
  Expects(index < begun_batches_.size());
  begun_batches_[index] = clock::now();
  fill_batch(*images_, index * batch_, input);
}

void classification::finish(std::size_t index, std::span<const float> output) {
  Expects(index < begun_batches_.size());
  const auto first = index * batch_;
  const auto count = std::min(batch_, images_->size() - first);
  pick_classes(output, std::span(answers_.predictions).subspan(first, count));
  const std::chrono::duration<double, std::milli> taken = clock::now() - begun_batches_[index];
  answers_.latencies_ms[index] = taken.count();
}

answers classification::take() && {
  const std::chrono::duration<double> taken = clock::now() - begun_;
  answers_.seconds = taken.count();
  return std::move(answers_);
}

} // namespace troupe::digits
