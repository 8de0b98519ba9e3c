#pragma once

#include <chrono>
#include <cstddef>
#include <span>
#include <vector>

#include "examples/digits/answers.hpp"
#include "examples/digits/digits_data.hpp"

namespace troupe::digits {

/// Collects the answers to a set of images batch by batch, in any order, and takes the times. One
/// thread at a time.
class classification {
public:
  /// Starts the clock of the whole. `images` must outlive this object; `batch` must be at least 1.
  classification(const image_set& images, std::size_t batch);

  /// The last batch may have fewer images than the others.
  [[nodiscard]] std::size_t batch_count() const noexcept { return begun_batches_.size(); }

  /// Starts the clock of batch `index` and writes its images to `input`, zeros behind the last.
  void begin(std::size_t index, std::span<float> input);

  /// Picks the classes of batch `index` from `output` and stops its clock.
  void finish(std::size_t index, std::span<const float> output);

  /// Stops the clock of the whole. Every batch has been begun and finished once.
  [[nodiscard]] answers take() &&;

private:
  using clock = std::chrono::steady_clock;

  const image_set* images_;
  std::size_t batch_;
  answers answers_;
  std::vector<clock::time_point> begun_batches_;
  clock::time_point begun_ = clock::now();
};

} // namespace troupe::digits
