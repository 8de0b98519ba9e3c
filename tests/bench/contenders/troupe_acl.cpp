#include "tests/bench/contenders/troupe_rows.hpp"
#include "tests/bench/measure.hpp"

#include <acl/acl.h>
#include <rt.h>

#include <memory>
#include <stdexcept>
#include <string>

namespace troupe::bench::troupe_rows {

namespace {

void check(aclError told) {
  if (told != ACL_SUCCESS)
    throw std::runtime_error("the C interface says " + std::to_string(told));
}

void empty_kernel(std::uint32_t, std::uint32_t, void*) {}

/// A stream and an event on device 0, which the calling thread sets for as long.
struct acl_session {
  acl_session() {
    check(aclrtSetDevice(0));
    check(aclrtCreateStream(&stream));
    check(aclrtCreateEventExWithFlag(&event, ACL_EVENT_SYNC));
  }
  ~acl_session() {
    (void)aclrtDestroyEvent(event);
    (void)aclrtDestroyStream(stream);
    (void)aclrtResetDevice(0);
  }
  acl_session(const acl_session&) = delete;
  acl_session& operator=(const acl_session&) = delete;

  aclrtStream stream = nullptr;
  aclrtEvent event = nullptr;
};

template <class Call>
repetition repeat(const workload& w, Call call) {
  auto s = std::make_shared<acl_session>();
  return [s, w, call] {
    return ns_each(w.count, [&] {
      for (std::size_t i = 0; i < w.count; ++i)
        check(call(*s));
      check(aclrtSynchronizeStream(s->stream));
    });
  };
}

}  // namespace

repetition acl_launch(const workload& w) {
  return repeat(w, [](acl_session& s) {
    return rtKernelLaunch(&empty_kernel, s.stream, nullptr, 0, nullptr);
  });
}

repetition acl_event_record(const workload& w) {
  return repeat(w, [](acl_session& s) { return aclrtRecordEvent(s.event, s.stream); });
}

repetition acl_idle_sync(const workload& w) {
  return repeat(w, [](acl_session& s) { return aclrtSynchronizeStream(s.stream); });
}

}  // namespace troupe::bench::troupe_rows
