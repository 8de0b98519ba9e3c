// Forked children: A8.

#include <atomic>
#include <functional>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "tests/behaviour/forked_child.hpp"
#include "tests/support/sanitizers.hpp"

#if defined(__SANITIZE_THREAD__)
#define TROUPE_TEST_TSAN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define TROUPE_TEST_TSAN 1
#endif
#endif

namespace troupe {
namespace {

// A child has the locks of the sanitizer's allocator as the parent's threads held them.
#define NOT_SANITIZED() \
  if (sanitized) GTEST_SKIP() << "the sanitizer's own locks do not survive a fork"

class forks : public stage_test {
protected:
  void TearDown() override { current::unbind(); }
};

TEST_F(forks, A8_in_the_child_of_a_process_that_used_a_device_every_call_fails_at_once) {
  LIVE_ONLY("a process of its own");
  NOT_SANITIZED();
  ASSERT_THAT(rt.set_device(0), IsOk());
  const auto shared = current::context().value();
  const auto mark = ctx.create_event().value();
  const auto go = rt.create_signal();
  ASSERT_THAT(shared.default_stream().value().wait(go), IsOk()); // work that no child can wait for
  EXPECT_TRUE(holds_in_child(30, [&] {
    const auto refused = code::not_supported;
    return has_code("set_device", rt.set_device(0), refused) &&
           has_code("reset_device", rt.reset_device(0), refused) &&
           has_code("device", rt.device(1).error(), refused) &&
           has_code("create_context", dev.create_context().error(), refused) &&
           has_code("memory", dev.memory().error(), refused) &&
           has_code("create_stream", ctx.create_stream().error(), refused) &&
           has_code("allocate", ctx.allocate<int>(1).error(), refused) &&
           has_code("allocate_host", rt.allocate_host<int>(1).error(), refused) &&
           has_code("launch", s.launch("child", [] {}), refused) &&
           has_code("record", s.record(mark), refused) &&
           has_code("query", s.query().error(), refused) &&
           has_code("synchronize", s.synchronize(), refused) &&
           has_code("context::synchronize", shared.synchronize(), refused) &&
           has_code("event::query", mark.query().error(), refused) &&
           has_code("destroy", s.destroy(), refused) &&
           has_code("context::destroy", ctx.destroy(), refused);
  }));
  go.raise();
  EXPECT_THAT(current::synchronize(), IsOk()) << "the parent goes on";
}

// -- with locks held all the time ---------------------------------------------

// A parent whose threads take every lock that calls from outside can meet, over and over.
class busy_forks : public forks {
protected:
  busy_forks() {
    keep_busy([this] { (void)rt.diagnostics(); });
    keep_busy([this] {
      (void)s.launch("fails", [] { throw std::runtime_error("again"); });
      (void)s.failures();
    });
    keep_busy([this] { (void)dev.counters(); (void)s.counters(); });
    keep_busy([this] { (void)s.launch_by_name("nothing"); });
    keep_busy([this] { (void)memory.allocate<int>(s, 64); (void)memory.counters(); });
    keep_busy([n = 0]() mutable { (void)intern_name(std::to_string(++n % 30'000)); });
  }
  ~busy_forks() override {
    over = true;
    for (auto& each : threads) each.join();
  }

  void keep_busy(std::function<void()> call) {
    if (simulated()) return;
    threads.emplace_back([this, call = std::move(call)] {
      while (!over) call();
    });
  }

  static constexpr int rounds = 40;

  troupe::pool memory = ctx.create_pool().value();
  pool_buffer<int> held = memory.allocate<int>(s, 64).value();
  std::atomic<bool> over = false;
  std::vector<std::thread> threads;
};

TEST_F(busy_forks, A8_no_call_in_the_child_waits_for_a_lock_of_the_parent) {
  LIVE_ONLY("a process of its own");
  NOT_SANITIZED();
  for (int i = 0; i < rounds; ++i) {
    ASSERT_TRUE(holds_in_child(10, [&] {
      const auto refused = code::not_supported;
      { const auto ended = std::move(held); }
      return rt.diagnostics().empty() && s.failures().empty() && s.counters().submitted == 0 &&
             dev.counters().elapsed_ns == 0 && dev.compute().utilisation == 0 &&
             memory.counters().reserved == 0 &&
             has_code("launch_by_name", s.launch_by_name("nothing"), refused) &&
             has_code("launch", s.launch(std::string_view("child"), [] {}), refused) &&
             has_code("least_loaded", rt.least_loaded().error(), refused) &&
             has_code("pool::allocate", memory.allocate<int>(s, 1).error(), refused) &&
             has_code("register_kernel", rt.register_kernel("k", [](int) {}), refused) &&
             rt.shutdown().ok();
    })) << "round " << i;
  }
}

#ifndef TROUPE_TEST_TSAN
TEST_F(busy_forks, A8_a_fresh_runtime_in_the_child_can_name_its_tasks) {
  LIVE_ONLY("a process of its own");
  NOT_SANITIZED();
  for (int i = 0; i < rounds; ++i) {
    ASSERT_TRUE(holds_in_child(30, [] {
      runtime own(test_options(1));
      auto context = own.device(0).value().create_context().value();
      auto stream = context.create_stream().value();
      const std::string name = "named in the child";
      return has_code("launch", stream.launch(std::string_view(name), [] {}), code::success) &&
             has_code("synchronize", stream.synchronize(), code::success);
    })) << "round " << i;
  }
}
#endif

// The bound of an orderly end is far beyond the child's life: it must not even try.
TEST(forks_in_use, A8_the_child_may_end_the_runtime_it_inherited) {
  LIVE_ONLY("a process of its own");
  NOT_SANITIZED();
  auto options = test_options(1);
  options.stop_bound_ms = 60'000;
  runtime rt(options);
  auto ctx = rt.device(0).value().create_context().value();
  auto s = ctx.create_stream().value();
  const auto go = rt.create_signal();
  ASSERT_THAT(s.launch("start a thread", [] {}), IsOk());
  ASSERT_THAT(s.synchronize(), IsOk());
  ASSERT_THAT(s.wait(go), IsOk());
  EXPECT_TRUE(holds_in_child(30, [&] {
    ctx = context();
    s = stream();
    return rt.shutdown().ok();
  }));
  go.raise();
  EXPECT_THAT(s.synchronize(), IsOk()) << "the parent goes on";
}

TEST(forks_before_use, A8_asking_for_devices_does_not_make_forking_unsafe) {
  LIVE_ONLY("a process of its own");
  const runtime rt(test_options(2));
  ASSERT_EQ(rt.device_count(), 2U);
  ASSERT_THAT(rt.profile(1), IsOk());
  EXPECT_TRUE(holds_in_child(30, [&] {
    if (!has_code("set_device", rt.set_device(0), code::success)) return false;
    auto stream = current::default_stream().value();
    bool ran = false;
    return has_code("launch", stream.launch("child", [&ran] { ran = true; }), code::success) &&
           has_code("synchronize", stream.synchronize(), code::success) && ran;
  }));
  EXPECT_THAT(rt.device(0), IsOk()) << "and the parent still can";
}

// TSan does not let the child of a threaded process make threads.
#ifndef TROUPE_TEST_TSAN
TEST_F(forks, A8_the_child_can_make_a_runtime_of_its_own) {
  LIVE_ONLY("a process of its own");
  NOT_SANITIZED();
  ASSERT_THAT(s.wait(rt.create_signal()), IsOk());
  EXPECT_TRUE(holds_in_child(30, [] {
    runtime own(test_options(1));
    if (!has_code("set_device", own.set_device(0), code::success)) return false;
    auto stream = current::default_stream().value();
    bool ran = false;
    return has_code("launch", stream.launch("child", [&ran] { ran = true; }), code::success) &&
           has_code("synchronize", stream.synchronize(), code::success) && ran;
  }));
}
#endif

} // namespace
} // namespace troupe
