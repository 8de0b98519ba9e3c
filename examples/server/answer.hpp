#pragma once

#include <array>
#include <chrono>
#include <functional>
#include <span>
#include <string>

#include "examples/digits/digits_data.hpp"

namespace troupe::server {

using clock = std::chrono::steady_clock;

/// What became of a request. Exactly one of these for each.
enum class verdict : unsigned char {
  answered,   ///< the network's answer is there
  overloaded, ///< refused at once: the queue was full
  expired,    ///< the deadline passed before the answer was there
  cancelled,  ///< the client went away
  failed,     ///< the device failed, also when tried again
  draining,   ///< refused at once: the server is about to end
};

inline constexpr std::size_t verdict_count = 6;

/// The verdict as metrics name it.
[[nodiscard]] constexpr const char* name(verdict v) noexcept {
  constexpr std::array<const char*, verdict_count> names{"answered",  "overloaded", "expired",
                                                         "cancelled", "failed",     "draining"};
  return names[static_cast<std::size_t>(v)];
}

/// The answer to one request. `probabilities` counts only with `answered`; `why` tells what went
/// wrong with all others and begins with the runtime's code where it was the device.
struct answer {
  verdict what = verdict::failed;
  std::array<float, digits::class_count> probabilities{};
  std::string why;
};

/// Classifies one image of `digits::image_pixels` numbers from 0 to 1. Any thread; returns soon
/// after `deadline` at the latest, and soon after `gone` has become true.
using classifier = std::function<answer(std::span<const float> image, clock::time_point deadline,
                                        const std::function<bool()>& gone)>;

} // namespace troupe::server
