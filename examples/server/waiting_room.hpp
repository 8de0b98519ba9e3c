#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <memory>
#include <mutex>
#include <vector>

#include "examples/server/request.hpp"

namespace troupe::server {

/// Where requests wait for a lane: a bounded queue that hands out batches. Any thread.
class waiting_room {
public:
  enum class entry : unsigned char { admitted, full, closed };

  explicit waiting_room(std::size_t places) noexcept : places_(places) {}

  /// Queues `r` behind the others, if there is a place and the room is open.
  [[nodiscard]] entry enter(std::shared_ptr<request> r);

  /// Waits for a request and takes up to `most` of those that wait; requests that have been settled
  /// meanwhile are left out. Empty once the room is closed and nobody waits any more.
  [[nodiscard]] std::vector<std::shared_ptr<request>> take(std::size_t most);

  /// Lets nobody in any more; those inside are still served.
  void close();

  [[nodiscard]] std::size_t waiting() const;
  [[nodiscard]] std::size_t places() const noexcept { return places_; }
  [[nodiscard]] bool closed() const;

private:
  const std::size_t places_;
  mutable std::mutex mutex_;
  std::condition_variable entered_;
  std::deque<std::shared_ptr<request>> line_;
  bool closed_ = false;
};

} // namespace troupe::server
