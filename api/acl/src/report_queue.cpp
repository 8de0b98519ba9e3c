#include "api/acl/src/report_queue.hpp"

#include <map>
#include <string>
#include <utility>

#include "actors/machine.hpp"
#include "actors/timeline.hpp"
#include "actors/waiting.hpp"
#include "api/acl/src/for_good.hpp"
#include "api/acl/src/session.hpp"
#include "api/src/runtime_maker.hpp"
#include "api/src/states.hpp"

namespace troupe::acl {
namespace {

struct subscription {
  std::shared_ptr<report_queue> queue;
  std::size_t streams = 0;
};

struct subscriptions {
  std::mutex guard;
  std::map<std::uint64_t, subscription> by_thread;
};

subscriptions& all() {
  return for_good<subscriptions>();
}

status none_came(std::int32_t limit_ms) {
  return make_status(static_cast<code>(507012),
                     "no report came within " + std::to_string(limit_ms) + " ms");
}

}  // namespace

void report_queue::post(std::function<void()> report) {
  signal next;
  {
    const std::lock_guard lock(guard_);
    waiting_.push_back(std::move(report));
    next = std::exchange(next_, signal{});
  }
  next.raise();
}

status report_queue::process(std::int32_t limit_ms) {
  auto& home = session::instance().home();
  auto& machine = runtime_maker::home_of(home);
  if (auto s = may_call(machine, "aclrtProcessReport"); !s.ok()) return s;
  if (auto s = machine.start(); !s.ok()) return s;
  const auto deadline = after(machine.time().now(), limit_ns(limit_ms));
  for (;;) {
    signal next;
    std::function<void()> report;
    {
      const std::lock_guard lock(guard_);
      if (!waiting_.empty()) {
        report = std::move(waiting_.front());
        waiting_.pop_front();
      } else {
        if (next_.line() == nullptr) next_ = home.create_signal();
        next = next_;
      }
    }
    if (report) {
      report();
      return {};
    }
    if (wait_for_number(machine.room(), *next.line(), 1, deadline) == wait_end::expired) {
      return none_came(limit_ms);
    }
    if (auto s = machine.check_alive(); !s.ok()) return s;
  }
}

std::shared_ptr<report_queue> report_queue::of_thread(std::uint64_t id) {
  auto& known = all();
  const std::lock_guard lock(known.guard);
  const auto found = known.by_thread.find(id);
  return found != known.by_thread.end() ? found->second.queue : nullptr;
}

std::shared_ptr<report_queue> report_queue::subscribe(std::uint64_t id) {
  auto& known = all();
  const std::lock_guard lock(known.guard);
  auto& mine = known.by_thread[id];
  if (!mine.queue) mine.queue = std::make_shared<report_queue>();
  ++mine.streams;
  return mine.queue;
}

void report_queue::unsubscribe(std::uint64_t id) {
  auto& known = all();
  const std::lock_guard lock(known.guard);
  const auto found = known.by_thread.find(id);
  if (found != known.by_thread.end() && --found->second.streams == 0) known.by_thread.erase(found);
}

}  // namespace troupe::acl
