#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <span>
#include <thread>
#include <vector>

#include <troupe/troupe.hpp>

#include "examples/digits/weights.hpp"
#include "examples/server/answer.hpp"
#include "examples/server/figures.hpp"
#include "examples/server/lane.hpp"
#include "examples/server/waiting_room.hpp"

namespace troupe::server {

/// How large the service is. Every number is at least 1.
struct service_options {
  std::size_t lanes = 2;      ///< batches under way at the same time, each on a stream of its own
  std::size_t batch_max = 32; ///< requests that one batch may take
  std::size_t queue_max = 256; ///< requests that may wait for a lane; more are refused
};

/// The digits network on a device as a service for many threads. A request that finds a lane idle is
/// served with it by its own thread. Those that come while the lanes are busy go together in the next
/// batch, so that throughput grows with load.
class service {
public:
  /// Throws `std::runtime_error` for weights that do not fit. The device is first used by the first
  /// request. `home` must outlive the service.
  service(const runtime& home, const device& where, const digits::weight_set& weights,
          const service_options& options);

  /// As `drain`.
  ~service();

  service(const service&) = delete;
  service& operator=(const service&) = delete;

  /// As `classifier` says. Any thread.
  [[nodiscard]] answer classify(std::span<const float> image, clock::time_point deadline,
                                const std::function<bool()>& gone);

  /// Refuses new requests from now on, and returns when those accepted have their answers: after
  /// the last of their deadlines at the latest. Any thread; further calls wait as well.
  void drain();

  [[nodiscard]] bool draining() const { return room_.closed(); }
  [[nodiscard]] bool able() const noexcept { return count_.lanes_down.load() < options_.lanes; }
  [[nodiscard]] std::size_t waiting() const { return room_.waiting(); }
  [[nodiscard]] const service_options& options() const noexcept { return options_; }
  [[nodiscard]] const figures& count() const noexcept { return count_; }

private:
  const service_options options_;
  networks nets_;
  figures count_;
  waiting_room room_;
  std::deque<lane> lanes_;
  std::mutex ending_;
  std::vector<std::thread> threads_;
};

} // namespace troupe::server
