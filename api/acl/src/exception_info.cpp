// What a program is told of tasks that fail.

#include <algorithm>
#include <mutex>
#include <vector>

#include <acl/acl.h>

#include "api/acl/src/call.hpp"
#include "api/acl/src/for_good.hpp"
#include "api/acl/src/session.hpp"

using namespace troupe;
using namespace troupe::acl;

/// One failure, while the program's callback is told of it.
struct rtExceptionInfo {
  std::uint32_t task;
  std::uint32_t stream;
  std::uint32_t thread;
  std::uint32_t device;
  std::uint32_t code;
};

namespace {

constexpr std::uint32_t unknown = 0xFFFFFFFFU;

// Who is told, by which runtime, and of what right now: only that can be asked about.
struct listening {
  std::mutex guard;
  aclrtExceptionInfoCallback callback = nullptr;
  const runtime* home = nullptr;  // that has our listener; null: none
  std::uint64_t number = 0;
  std::vector<const aclrtExceptionInfo*> told;
};

listening& listener() {
  return for_good<listening>();
}

aclrtExceptionInfo info_of(const error_record& failure) {
  return {static_cast<std::uint32_t>(failure.task_number),
          static_cast<std::uint32_t>(failure.stream), static_cast<std::uint32_t>(failure.thread),
          failure.device.value_or(unknown), static_cast<std::uint32_t>(failure.what)};
}

void tell(const error_record& failure) {
  auto& all = listener();
  auto info = info_of(failure);
  aclrtExceptionInfoCallback callback = nullptr;
  {
    const std::lock_guard lock(all.guard);
    callback = all.callback;
    if (callback == nullptr) return;
    all.told.push_back(&info);
  }
  callback(&info);
  const std::lock_guard lock(all.guard);
  std::erase(all.told, &info);
}

// A listener for as long as there is a callback, so that others pay nothing for failures. Where one
// is, a change of the callback asks nothing of the runtime: it may be made within the callback.
status listen(aclrtExceptionInfoCallback callback) {
  auto& home = session::instance().home();
  auto& all = listener();
  const std::lock_guard lock(all.guard);
  const bool there = all.home == &home;
  if (callback != nullptr && !there) {
    const auto number = home.add_failure_listener(&tell);
    if (!number) return number.error();
    all.home = &home;
    all.number = number.value();
  } else if (callback == nullptr && there) {
    if (auto s = home.remove_failure_listener(all.number); !s.ok()) return s;
    all.home = nullptr;
  }
  all.callback = callback;
  return {};
}

std::uint32_t field_of(const aclrtExceptionInfo* info, std::uint32_t aclrtExceptionInfo::*field) {
  return call_for(unknown, [&] {
    auto& all = listener();
    const std::lock_guard lock(all.guard);
    const bool known = std::find(all.told.begin(), all.told.end(), info) != all.told.end();
    return known ? info->*field : unknown;
  });
}

}  // namespace

aclError aclrtSetExceptionInfoCallback(aclrtExceptionInfoCallback callback) {
  return call([&] { return listen(callback); });
}

uint32_t aclrtGetTaskIdFromExceptionInfo(const aclrtExceptionInfo* info) {
  return field_of(info, &aclrtExceptionInfo::task);
}

uint32_t aclrtGetStreamIdFromExceptionInfo(const aclrtExceptionInfo* info) {
  return field_of(info, &aclrtExceptionInfo::stream);
}

uint32_t aclrtGetThreadIdFromExceptionInfo(const aclrtExceptionInfo* info) {
  return field_of(info, &aclrtExceptionInfo::thread);
}

uint32_t aclrtGetDeviceIdFromExceptionInfo(const aclrtExceptionInfo* info) {
  return field_of(info, &aclrtExceptionInfo::device);
}

uint32_t aclrtGetErrorCodeFromExceptionInfo(const aclrtExceptionInfo* info) {
  return field_of(info, &aclrtExceptionInfo::code);
}
