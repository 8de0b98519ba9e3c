#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include <troupe/troupe.hpp>

#include "examples/digits/answers.hpp"
#include "examples/digits/digits_data.hpp"
#include "examples/digits/pipeline_step.hpp"
#include "examples/digits/progress.hpp"

namespace troupe::digits {

/// What is measured: a step of the pipeline, or the bare loop.
struct contestant {
  std::string name;
  std::string change;
  bool on_device;
  std::function<answers(const image_set&)> run;
  std::function<std::uint64_t()> pool_allocations; ///< so far; empty: none ever
  savings saved_each_batch = {};
};

/// What one contestant did. Everything but the latencies is of its median round; counts are
/// differences of the runtime's own counters.
struct figures {
  std::string name;
  std::string change;
  bool on_device = false;
  double images_per_s = 0;
  double p50_ms = 0; ///< of the batches of all rounds
  double p99_ms = 0;
  std::uint64_t device_allocations = 0;
  std::uint64_t pool_allocations = 0;
  std::uint64_t launches = 0;
  std::uint64_t launches_saved = 0; ///< as operators were put together
  std::uint64_t bytes_saved = 0;    ///< of tensors between these, written and read
  std::uint64_t bytes_copied = 0;   ///< both directions
  double compute_use = 0;         ///< share of the compute engines' time, 0 to 1
  double dma_use = 0;             ///< share of the copy engines' time, both directions, 0 to 1
  std::size_t right = 0;          ///< images whose class is their label
};

/// Runs every contestant over all images: a few batches unmeasured, then `rounds` times, in turn,
/// so that a slow moment of the machine hits all alike. Throws `troupe::error` for a failing
/// status, and `std::runtime_error` naming the first image when predictions are not identical.
[[nodiscard]] std::vector<figures> measure(std::span<const contestant> contestants,
                                           const device& where, const image_set& images,
                                           std::size_t rounds, progress& shown);

} // namespace troupe::digits
