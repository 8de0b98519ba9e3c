// A system that refuses threads and address space, in children, whose limits are their own: what
// cannot be had is a result, nothing is half done, and it works once there is room again.

#include <pthread.h>
#include <sys/resource.h>

#include <fstream>
#include <memory>

#include "actors/arena.hpp"
#include "tests/behaviour/forked_child.hpp"
#include "tests/support/sanitizers.hpp"

namespace troupe {
namespace {

constexpr rlim_t mebibyte = rlim_t{1} << 20;

// Leaves the process `more` bytes of address space while it lives.
class tight_space {
public:
  explicit tight_space(rlim_t more) {
    ::getrlimit(RLIMIT_AS, &before_);
    rlim_t pages = 0;
    std::ifstream("/proc/self/statm") >> pages;
    auto now = before_;
    now.rlim_cur = pages * 4096 + more;
    ::setrlimit(RLIMIT_AS, &now);
  }
  ~tight_space() { ::setrlimit(RLIMIT_AS, &before_); }
  tight_space(const tight_space&) = delete;
  tight_space& operator=(const tight_space&) = delete;

private:
  rlimit before_{};
};

// Later threads want stacks so large that none fits into the room left.
void want_large_stacks() {
  pthread_attr_t wanted;
  ::pthread_attr_init(&wanted);
  ::pthread_attr_setstacksize(&wanted, 512 * mebibyte);
  ::pthread_setattr_default_np(&wanted);
}

bool works(const runtime& rt) {
  auto device = rt.device(0);
  if (!has_code("device", device.error(), code::success)) return false;
  auto context = device.value().create_context().value();
  auto stream = context.create_stream().value();
  bool ran = false;
  return has_code("launch", stream.launch("work", [&ran] { ran = true; }), code::success) &&
         has_code("synchronize", stream.synchronize(), code::success) && ran;
}

class shortage : public ::testing::Test {
protected:
  void SetUp() override {
    if (sanitized) GTEST_SKIP() << "sanitizers need address space of their own";
  }
};

TEST_F(shortage, without_address_space_a_device_is_refused_and_later_opened) {
  LIVE_ONLY("limits of the process");
  EXPECT_TRUE(holds_in_child(30, [] {
    const runtime rt(test_options(1));
    {
      const tight_space little(3 * mebibyte);
      for (int i = 0; i < 2; ++i) {
        if (!has_code("device", rt.device(0).error(), code::memory_allocation)) return false;
      }
      if (!has_code("allocate_host", rt.allocate_host<int>(4).error(), code::memory_allocation)) {
        return false;
      }
    }
    return works(rt);
  }));
}

TEST_F(shortage, without_threads_a_device_is_refused_and_later_opened) {
  LIVE_ONLY("limits of the process");
  EXPECT_TRUE(holds_in_child(30, [] {
    want_large_stacks();
    const runtime rt(test_options(1));
    {
      const tight_space no_stack(host_memory_bytes() + 300 * mebibyte);
      for (int i = 0; i < 2; ++i) {
        const auto refused = rt.device(0).error();
        if (!has_code("device", refused, code::resource_shortage)) return false;
        if (refused.message().find("thread") == std::string::npos) return false;
      }
    }
    return works(rt);
  }));
}

TEST_F(shortage, a_started_runtime_needs_no_further_thread_for_any_kind_of_work) {
  LIVE_ONLY("limits of the process");
  EXPECT_TRUE(holds_in_child(30, [] {
    want_large_stacks();
    runtime rt(test_options(1));
    auto context = rt.device(0).value().create_context().value();
    auto stream = context.create_stream().value();
    const tight_space no_stack(16 * mebibyte);
    int done = 0;
    return has_code("callback", stream.callback("call", [&] { ++done; }), code::success) &&
           has_code("launch", stream.launch({"split", 8}, [](block) {}), code::success) &&
           has_code("launch", stream.launch("work", [&] { ++done; }), code::success) &&
           has_code("synchronize", stream.synchronize(), code::success) && done == 2;
  }));
}

TEST_F(shortage, submissions_are_refused_while_a_stuck_thread_cannot_be_replaced) {
  LIVE_ONLY("limits of the process");
  EXPECT_TRUE(holds_in_child(30, [] {
    want_large_stacks();
    auto options = test_options(1);
    options.compute_threads = 1;
    options.stop_bound_ms = 20;
    runtime rt(options);
    auto context = rt.device(0).value().create_context().value();
    auto stream = context.create_stream().value();
    auto other = context.create_stream().value();
    const auto door = std::make_shared<gate>();
    const tight_space no_stack(16 * mebibyte);
    stream.launch("stuck", [door] { door->pass(); }).or_throw();
    door->await_arrivals();
    stream.abort().or_throw();
    if (!has_code("synchronize", stream.synchronize(), code::success)) return false;
    while (rt.diagnostics().empty()) std::this_thread::yield();
    if (!has_code("launch", other.launch("late", [] {}), code::resource_shortage)) return false;
    if (!has_code("callback", other.callback("call", [] {}), code::success)) return false;
    door->open();
    status accepted;
    do {
      accepted = other.launch("again", [] {});
    } while (accepted.code() == code::resource_shortage);
    return has_code("launch", accepted, code::success) &&
           has_code("synchronize", other.synchronize(), code::success);
  }));
}

} // namespace
} // namespace troupe
