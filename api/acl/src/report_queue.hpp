#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>

#include "core/status.hpp"
#include "troupe/event.hpp"

namespace troupe::acl {

/// The callbacks that one thread has to call, in order. Any thread posts, one processes.
class report_queue : public std::enable_shared_from_this<report_queue> {
 public:
  /// Adds a report; lets a thread go that waits for one.
  void post(std::function<void()> report);

  /// Waits up to `limit_ms` (-1: for ever) for a report and calls it outside all locks. Failure:
  /// 507012 when none came.
  status process(std::int32_t limit_ms);

  /// The queue of thread `id`, made with the first subscription; null when there is none.
  [[nodiscard]] static std::shared_ptr<report_queue> of_thread(std::uint64_t id);
  [[nodiscard]] static std::shared_ptr<report_queue> subscribe(std::uint64_t id);
  static void unsubscribe(std::uint64_t id);

 private:
  std::mutex guard_;
  std::deque<std::function<void()>> waiting_;
  signal next_;  ///< raised when something waits; empty when nobody waits for that
};

}  // namespace troupe::acl
