#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "actors/scheduling/clock.hpp"
#include "actors/scheduling/timer_queue.hpp"
#include "core/status.hpp"
#include "troupe/stream.hpp"

namespace troupe {
class stream_record;
}  // namespace troupe

namespace troupe::acl {

namespace detail {
extern std::atomic<time_ns> kernel_limit;
}  // namespace detail

/// How long a kernel of a program's own may run, of the whole process (aclrtSetOpExecuteTimeOut):
/// holds for launches from now on; `never_ns`: for ever. Any thread.
[[nodiscard]] inline time_ns kernel_limit() noexcept {
  return detail::kernel_limit.load(std::memory_order_relaxed);
}

/// Holds one launch to its limit. Where one of its blocks runs longer, the task fails with 507014,
/// and what its stream had accepted is aborted with it, as nothing else ends a kernel that does not
/// return: see `stream::abort`.
class kernel_watch : public std::enable_shared_from_this<kernel_watch> {
 public:
  kernel_watch(const stream& on, const char* name, time_ns limit);

  /// While it lives a block runs, on the thread that made it.
  class block_scope {
   public:
    explicit block_scope(const std::shared_ptr<kernel_watch>& by);
    ~block_scope();
    block_scope(const block_scope&) = delete;
    block_scope& operator=(const block_scope&) = delete;

   private:
    kernel_watch* const by_;  // null: no limit
    timer_queue::timer_id timer_ = 0;
  };

 private:
  void expire(std::uint64_t number);

  stream_record* const record_;  // there while a block runs
  const std::weak_ptr<stream_record> kept_;
  const char* const name_;
  const time_ns limit_;
  const std::uint32_t thread_;
  std::atomic<bool> told_ = false;
};

/// A watch for a launch on `on`: null without a limit, and where the launch is captured.
[[nodiscard]] std::shared_ptr<kernel_watch> watch_kernel(const stream& on, const char* name);

/// What a wait for `of` tells that was interrupted with `why`: the task over its limit that caused
/// it, once, if one did.
[[nodiscard]] status explain_interrupted(const stream& of, const status& why);

}  // namespace troupe::acl
