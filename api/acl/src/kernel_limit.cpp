#include "api/acl/src/kernel_limit.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include <acl/acl.h>

#include "actors/machine.hpp"
#include "actors/process.hpp"
#include "actors/scheduling/spawn.hpp"
#include "actors/stream_actor.hpp"
#include "actors/stream_record.hpp"
#include "api/acl/src/call.hpp"
#include "api/src/states.hpp"
#include "troupe/capture.hpp"

namespace troupe::acl {

constinit std::atomic<time_ns> detail::kernel_limit = never_ns;

namespace {

constexpr std::uint64_t limit_us_max = std::uint64_t{UINT32_MAX} * 1'000'000;

// 0: for ever.
void set_limit(std::uint64_t microseconds) noexcept {
  const auto limit = microseconds == 0 ? never_ns : static_cast<time_ns>(microseconds) * 1000;
  detail::kernel_limit.store(limit, std::memory_order_relaxed);
}

}  // namespace

kernel_watch::kernel_watch(const stream& on, const char* name, time_ns limit)
    : record_(on.state()->record.get()), kept_(on.state()->record), name_(name), limit_(limit),
      thread_(this_thread_number()) {}

kernel_watch::block_scope::block_scope(const std::shared_ptr<kernel_watch>& by) : by_(by.get()) {
  if (by_ == nullptr) return;
  auto& home = by_->record_->home();
  const auto number = by_->record_->line()->completed() + 1;
  timer_ = home.scheduler().at_time(after(home.time().now(), by_->limit_),
                                    [by, number] { by->expire(number); });
}

kernel_watch::block_scope::~block_scope() {
  if (by_ != nullptr) (void)by_->record_->home().scheduler().cancel(timer_);
}

void kernel_watch::expire(std::uint64_t number) {
  const auto record = kept_.lock();
  if (!record || record->line()->completed() >= number || told_.exchange(true)) return;
  command late(command_kind::kernel, name_, {});
  late.number = number;
  late.thread = thread_;
  (void)record->fail(late, make_status(code::kernel_timeout,
                                       "it ran longer than its limit of " +
                                           std::to_string(limit_ / 1000) + " us"));
  post(record->actor, abort_stream{reply<status>([](const status&) {})});
}

std::shared_ptr<kernel_watch> watch_kernel(const stream& on, const char* name) {
  const auto limit = kernel_limit();
  if (limit == never_ns || !on.state()) [[likely]] return nullptr;
  const auto captured = capturing::look(on);
  if (!captured || captured.value().id != 0) return nullptr;
  return std::make_shared<kernel_watch>(on, name, limit);
}

status explain_interrupted(const stream& of, const status& why) {
  if (why.code() != code::stream_abort || !of.state()) return why;
  auto& record = *of.state()->record;
  const auto last = record.line()->submitted();
  const bool over_limit = record.failure_up_to(last).code() == code::kernel_timeout;
  return over_limit ? record.take_failure(last) : why;
}

}  // namespace troupe::acl

using namespace troupe;
using namespace troupe::acl;

aclError aclrtSetOpExecuteTimeOut(uint32_t timeout) {
  return call([&]() -> status {
    set_limit(std::uint64_t{timeout} * 1'000'000);
    return {};
  });
}

aclError aclrtSetOpExecuteTimeOutV2(uint64_t timeout, uint64_t* actualTimeout) {
  return call([&]() -> status {
    if (actualTimeout == nullptr) {
      return bad_argument("aclrtSetOpExecuteTimeOutV2: actualTimeout is null");
    }
    *actualTimeout = std::min(timeout, limit_us_max);
    set_limit(*actualTimeout);
    return {};
  });
}
