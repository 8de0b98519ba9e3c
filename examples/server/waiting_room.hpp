#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <memory>
#include <mutex>
#include <vector>

#include "examples/server/request.hpp"

namespace troupe::server {

/// Where requests wait for a lane: a bounded queue that hands out batches, and the lanes' seats.
/// While a lane has nothing to do it is lent to the next thread that brings a request, so that nobody
/// waits for another thread to wake up. Any thread.
class waiting_room {
public:
  enum class entry : unsigned char { admitted, full, closed };

  /// What became of a request that entered: `lane`, if it is not `no_lane`, is lent to the caller,
  /// who must give it back, and the request does not wait.
  struct admission {
    entry what;
    std::size_t lane;
  };
  static constexpr auto no_lane = static_cast<std::size_t>(-1);

  waiting_room(std::size_t lanes, std::size_t places) : places_(places), seats_(lanes) {}

  /// Lends an idle lane, or queues `r` behind the others, if there is a place and the room is open.
  [[nodiscard]] admission enter(const std::shared_ptr<request>& r);

  /// Ends the loan. With `left` the lane's own thread goes on with that request.
  void give_back(std::size_t lane, std::shared_ptr<request> left);

  /// For the lane's own thread: waits for requests, and takes what was left to it, or up to `most` of
  /// those that wait; requests that have been settled meanwhile are left out. Empty once the room is
  /// closed, nobody waits any more and the lane is not lent.
  [[nodiscard]] std::vector<std::shared_ptr<request>> take(std::size_t lane, std::size_t most);

  /// Lets nobody in any more; those inside are still served.
  void close();

  [[nodiscard]] std::size_t waiting() const;
  [[nodiscard]] std::size_t places() const noexcept { return places_; }
  [[nodiscard]] bool closed() const;

private:
  enum class use : unsigned char { own, idle, lent }; ///< whose a lane is

  struct seat {
    use by = use::own;
    std::shared_ptr<request> left;
    std::condition_variable called;
  };

  const std::size_t places_;
  mutable std::mutex mutex_;
  std::deque<seat> seats_;
  std::deque<std::shared_ptr<request>> line_; ///< empty while any lane is idle
  bool closed_ = false;
};

} // namespace troupe::server
