// Forked children: A8.

#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <functional>

#include "tests/support/stage.hpp"

#if defined(__SANITIZE_THREAD__)
#define TROUPE_TEST_TSAN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define TROUPE_TEST_TSAN 1
#endif
#endif

namespace troupe {
namespace {

/// Whether `body` returns true in a forked child, which is killed after `limit_s`.
bool holds_in_child(unsigned limit_s, const std::function<bool()>& body) {
  const auto child = ::fork();
  if (child == 0) {
    ::alarm(limit_s);
    ::_exit(body() ? 0 : 1);
  }
  int state = 0;
  if (child < 0 || ::waitpid(child, &state, 0) != child) return false;
  if (WIFSIGNALED(state)) std::fprintf(stderr, "child: signal %d\n", WTERMSIG(state));
  return WIFEXITED(state) && WEXITSTATUS(state) == 0;
}

/// For children, where a failed expectation would reach nobody.
bool has_code(const char* call, const status& outcome, code expected) {
  if (outcome.code() == expected) return true;
  std::fprintf(stderr, "child: %s gave %d\n", call, static_cast<int>(outcome.code()));
  return false;
}

class forks : public stage_test {
protected:
  void TearDown() override { current::unbind(); }
};

TEST_F(forks, A8_in_the_child_of_a_process_that_used_a_device_every_call_fails_at_once) {
  ASSERT_THAT(rt.set_device(0), IsOk());
  const auto shared = current::context().value();
  const auto mark = ctx.create_event().value();
  const auto go = rt.create_signal();
  ASSERT_THAT(shared.default_stream().value().wait(go), IsOk()); // work that no child can wait for
  EXPECT_TRUE(holds_in_child(2, [&] {
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

// The bound of an orderly end is far beyond the child's life: it must not even try.
TEST(forks_in_use, A8_the_child_may_end_the_runtime_it_inherited) {
  auto options = test_options(1);
  options.stop_bound_ms = 60'000;
  runtime rt(options);
  auto ctx = rt.device(0).value().create_context().value();
  auto s = ctx.create_stream().value();
  const auto go = rt.create_signal();
  ASSERT_THAT(s.launch("start a thread", [] {}), IsOk());
  ASSERT_THAT(s.synchronize(), IsOk());
  ASSERT_THAT(s.wait(go), IsOk());
  EXPECT_TRUE(holds_in_child(2, [&] {
    ctx = context();
    s = stream();
    return rt.shutdown().ok();
  }));
  go.raise();
  EXPECT_THAT(s.synchronize(), IsOk()) << "the parent goes on";
}

TEST(forks_before_use, A8_asking_for_devices_does_not_make_forking_unsafe) {
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
