#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <troupe/troupe.hpp>

/// What a client gets: scores, one a row of its batch, or why there are none.
struct answer {
  troupe::status outcome;
  std::vector<float> scores; ///< empty unless the outcome is a success
  unsigned tries = 0;
};

/// A small inference server: scores batches of rows on one device, for as many clients at once as
/// call it. Each call has a stream and memory of its own, so what goes wrong for one client goes
/// wrong for no other; what goes wrong is tried again on a fresh stream. A device that has no
/// memory left is told to the client at once, who may come again.
class inference_server {
public:
  static constexpr std::size_t columns = 8;
  static constexpr unsigned tries_max = 3;
  static constexpr std::chrono::milliseconds patience{100}; ///< for one try

  /// Serves with the model `weights` on device 0 of `runtime`, which must outlive the server.
  /// Throws `troupe::error` if the device takes no context.
  inference_server(const troupe::runtime& runtime, std::span<const float> weights);

  /// `batch` holds whole rows. Any thread.
  [[nodiscard]] answer score(std::span<const float> batch);

  /// How many batches have been scored, as counted by callbacks of the device. Any thread.
  [[nodiscard]] std::uint64_t scored() const { return scored_->load(); }

private:
  [[nodiscard]] troupe::status try_once(std::span<const float> batch, std::vector<float>& scores);

  const troupe::runtime& runtime_;
  troupe::context context_;
  std::vector<float> weights_;
  // Shared with the callbacks: one of a try that was given up on may still come.
  std::shared_ptr<std::atomic<std::uint64_t>> scored_ =
      std::make_shared<std::atomic<std::uint64_t>>(0);
};
