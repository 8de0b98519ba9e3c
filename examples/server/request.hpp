#pragma once

#include <array>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <span>

#include "examples/digits/digits_data.hpp"
#include "examples/server/answer.hpp"

namespace troupe::server {

/// One image on its way, shared by the client's thread, which waits, and by the lane that works on
/// it. The first answer counts: a lane that comes after the deadline changes nothing.
class request {
public:
  request(std::span<const float> image, clock::time_point deadline);

  [[nodiscard]] std::span<const float> image() const noexcept { return image_; }
  [[nodiscard]] clock::time_point deadline() const noexcept { return deadline_; }

  /// Gives the answer, unless there is one.
  void settle(answer a);

  /// Whether there is an answer, so that no work is worth while.
  [[nodiscard]] bool settled() const;

  /// Settles itself at the deadline, or when `gone` says that nobody wants the answer any more.
  /// False once there is an answer, whoever gave it.
  bool still_wanted(const std::function<bool()>& gone);

  /// Waits for the answer, as long as it is wanted, which is asked every 20 ms.
  [[nodiscard]] answer wait(const std::function<bool()>& gone);

private:
  std::array<float, digits::image_pixels> image_;
  clock::time_point deadline_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::optional<answer> answer_;
};

} // namespace troupe::server
