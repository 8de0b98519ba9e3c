// Host callbacks in stream order: I1, I5, and what they may call.

#include <array>
#include <atomic>
#include <functional>
#include <memory>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

#include "tests/behaviour/side_thread.hpp"

namespace troupe {
namespace {

class callbacks : public stage_test {
protected:
  callbacks() : stage_test(patient_options()) {}
  ~callbacks() override {
    door.open();
    (void)ctx.synchronize(); // nobody is at the door any more when it goes
  }

  gate door;
};

TEST_F(callbacks, I1_callback_holds_back_its_stream_and_no_other) {
  LIVE_ONLY("its kernels wait for the test");
  std::atomic<int> calls = 0;
  std::atomic<bool> next_ran = false;
  ASSERT_THAT(s.callback("held", [&] {
    ++calls;
    door.pass();
  }), IsOk());
  ASSERT_THAT(s.launch("next", [&] { next_ran = true; }), IsOk());
  door.await_arrivals();
  constexpr int others = 50;
  std::atomic<int> done = 0;
  std::vector<stream> streams;
  for (int i = 0; i < others; ++i) {
    auto& each = streams.emplace_back(ctx.create_stream().value());
    ASSERT_THAT(each.callback("call", [&] { ++done; }), IsOk());
    ASSERT_THAT(each.launch("task", [&] { ++done; }), IsOk());
  }
  for (auto& each : streams) EXPECT_THAT(each.synchronize(), IsOk());
  EXPECT_EQ(done, 2 * others) << "while the door was shut";
  EXPECT_FALSE(next_ran);
  EXPECT_FALSE(s.query().value());
  door.open();
  EXPECT_THAT(s.synchronize(), IsOk());
  EXPECT_TRUE(next_ran);
  EXPECT_EQ(calls, 1);
}

TEST_F(callbacks, I1_callbacks_and_tasks_of_one_stream_run_once_each_and_in_order) {
  std::vector<int> order; // no lock: stream order is what keeps the writers apart
  constexpr int rounds = 200;
  for (int i = 0; i < rounds; ++i) {
    const auto note = [&order, i] { order.push_back(i); };
    ASSERT_THAT(i % 2 == 0 ? s.callback("call", note) : s.launch("task", note), IsOk());
  }
  ASSERT_THAT(s.synchronize(), IsOk());
  ASSERT_EQ(order.size(), std::size_t{rounds});
  for (int i = 0; i < rounds; ++i) EXPECT_EQ(order[static_cast<std::size_t>(i)], i);
}

TEST_F(callbacks, I1_callback_sees_what_the_tasks_before_it_wrote) {
  auto data = rt.allocate_host<int>(1).value();
  auto on_device = ctx.allocate<int>(1).value();
  int seen = 0;
  ASSERT_THAT(s.launch("write", [](gsl::span<int> out) { out[0] = 9; }, on_device), IsOk());
  ASSERT_THAT(s.copy(data, on_device), IsOk());
  ASSERT_THAT(s.callback("read", [&] { seen = data[0]; }), IsOk());
  ASSERT_THAT(s.synchronize(), IsOk());
  EXPECT_EQ(seen, 9);
}

TEST_F(callbacks, I5_throwing_callback_fails_its_task_and_the_stream_goes_on) {
  bool next_ran = false;
  ASSERT_THAT(s.callback("careless", [] { throw std::runtime_error("spilled"); }), IsOk());
  ASSERT_THAT(s.callback("odd", [] { throw 7; }), IsOk());
  ASSERT_THAT(s.launch("next", [&] { next_ran = true; }), IsOk());
  const auto outcome = s.synchronize();
  EXPECT_THAT(outcome, HasCode(code::internal_error));
  EXPECT_THAT(outcome, SaysThat("careless"));
  EXPECT_THAT(outcome, SaysThat("spilled"));
  EXPECT_TRUE(next_ran);
  EXPECT_EQ(s.failures().size(), 2U);
  EXPECT_THAT(s.callback("again", [] {}), IsOk());
  EXPECT_THAT(s.synchronize(), IsOk());
}

TEST_F(callbacks, I5_in_stop_mode_a_throwing_callback_ends_the_context) {
  const auto hold = rt.create_signal();
  std::atomic<bool> next_ran = false;
  ASSERT_THAT(s.set_failure_mode(failure_mode::stop), IsOk());
  ASSERT_THAT(s.wait(hold), IsOk());
  ASSERT_THAT(s.callback("careless", [] { throw std::runtime_error("spilled"); }), IsOk());
  ASSERT_THAT(s.callback("next", [&] { next_ran = true; }), IsOk());
  hold.raise();
  EXPECT_THAT(s.synchronize(), HasCode(code::internal_error));
  EXPECT_THAT(s.callback("later", [] {}), SaysThat("spilled"));
  EXPECT_FALSE(next_ran);
}

TEST_F(callbacks, I5_sleeping_callbacks_hold_up_neither_control_nor_devices) {
  LIVE_ONLY("its kernels wait for the test");
  const std::size_t sleepers = 2 * test_workers() + 4;
  std::vector<stream> streams;
  for (std::size_t i = 0; i < sleepers; ++i) {
    auto& each = streams.emplace_back(ctx.create_stream().value());
    ASSERT_THAT(each.callback("asleep", [&] { door.pass(); }), IsOk());
  }
  door.await_arrivals(sleepers);
  std::vector<int> host(16, 5);
  auto memory = ctx.allocate<int>(host.size());
  ASSERT_THAT(memory, IsOk());
  for (int i = 0; i < 100; ++i) {
    ASSERT_THAT(s.copy(memory.value(), host), IsOk());
    ASSERT_THAT(s.launch("task", [] {}), IsOk());
    ASSERT_FALSE(streams.front().query().value());
  }
  EXPECT_THAT(s.synchronize(), IsOk());
  EXPECT_THAT(streams.front().abort(), IsOk());
}

TEST_F(callbacks, decision_8_callback_may_query_but_neither_submit_nor_wait) {
  status submitted, waited, allocated, aborted, queried;
  ASSERT_THAT(s.callback("curious", [&] {
    submitted = s.launch("inner", [] {});
    waited = s.synchronize();
    allocated = ctx.allocate<int>(1).error();
    aborted = s.abort();
    queried = s.query().error();
  }), IsOk());
  ASSERT_THAT(s.synchronize(), IsOk());
  for (const auto& each : {submitted, waited, allocated, aborted}) {
    EXPECT_THAT(each, HasCode(code::not_supported));
    EXPECT_THAT(each, SaysThat("curious"));
  }
  EXPECT_THAT(queried, IsOk());
}

// Each call by its kind: what allocates, frees, submits, waits, aborts, opens or ends is refused.
TEST_F(callbacks, decision_8_every_call_that_acts_is_refused_inside_user_code) {
  auto memory = ctx.allocate<int>(16).value();
  auto pool = ctx.create_pool().value();
  auto mark = ctx.create_event().value();
  auto other = ctx.create_stream().value();
  const auto go = rt.create_signal();
  std::vector<int> host(16);
  std::vector<status> refused;
  const auto act = [&] {
    refused = {memory.free(), ctx.allocate<int>(1).error(), rt.allocate_host<int>(1).error(),
               pool.allocate<int>(other, 1).error(), other.launch("inner", [] {}),
               other.callback("inner", [] {}), other.copy(memory, host),
               ctx.copy(memory, std::span<const int>(host)), other.record(mark), other.wait(go),
               other.synchronize(), ctx.synchronize(), mark.synchronize(), mark.destroy(),
               other.abort(), other.destroy(), other.destroy(true), ctx.destroy(),
               ctx.create_stream().error(), ctx.create_event().error(), ctx.create_pool().error(),
               dev.create_context().error(), dev.memory().error(), rt.device(1).error(),
               rt.least_loaded().error(), rt.set_device(0), rt.reset_device(0),
               rt.host_memory().error(), rt.shutdown()};
  };
  const auto check = [&](const char* where) {
    ASSERT_GT(refused.size(), 20U);
    for (std::size_t i = 0; i < refused.size(); ++i) {
      EXPECT_THAT(refused[i], HasCode(code::not_supported)) << where << ", call " << i;
      EXPECT_THAT(refused[i], SaysThat("curious")) << where << ", call " << i;
    }
    refused.clear();
  };
  ASSERT_THAT(s.callback("curious", act), IsOk());
  ASSERT_THAT(s.synchronize(), IsOk());
  check("in a callback");
  ASSERT_THAT(s.launch("curious", act), IsOk());
  ASSERT_THAT(s.synchronize(), IsOk());
  check("in a kernel");
  EXPECT_THAT(other.launch("later", [] {}), IsOk()) << "nothing was done";
  EXPECT_THAT(ctx.synchronize(), IsOk());
}

// Engines that help with a launch are inside it as its owner is.
TEST(split_kernels, decision_8_calls_are_refused_in_every_block) {
  LIVE_ONLY("its blocks run side by side");
  auto options = patient_options(1);
  options.compute_threads = 3;
  const runtime rt(options);
  auto ctx = rt.device(0).value().create_context().value();
  auto s = ctx.create_stream().value();
  gate door;
  std::array<status, 3> refused;
  ASSERT_THAT(s.launch({"curious", 3}, [&](block b) {
    refused[b.index] = ctx.create_stream().error();
    door.pass();
  }), IsOk());
  door.await_arrivals(3); // each on an engine of its own
  door.open();
  ASSERT_THAT(s.synchronize(), IsOk());
  for (const auto& each : refused) {
    EXPECT_THAT(each, HasCode(code::not_supported));
    EXPECT_THAT(each, SaysThat("curious"));
  }
}

// Calls a function as it ends.
struct at_end {
  explicit at_end(std::function<void()> last) : call(std::move(last)) {}
  ~at_end() { call(); }
  at_end(const at_end&) = delete;
  at_end& operator=(const at_end&) = delete;

  const std::function<void()> call;
};

// On whatever thread that is: none of them may wait for itself.
TEST_F(callbacks, decision_8_destructors_of_what_was_captured_are_inside_user_code) {
  std::vector<status> refused;
  std::atomic<int> ended = 0;
  const auto captured = [&] {
    return std::make_shared<at_end>([&] {
      refused = {ctx.create_stream().error(), s.synchronize(), s.abort(), rt.shutdown()};
      ++ended;
    });
  };
  const auto check = [&](int count, const char* where) {
    await([&] { return ended == count; });
    for (const auto& each : refused) {
      EXPECT_THAT(each, HasCode(code::not_supported)) << where;
      EXPECT_THAT(each, SaysThat("curious")) << where;
    }
  };
  ASSERT_THAT(s.launch("curious", [held = captured()] {}), IsOk());
  check(1, "a kernel that ran");
  ASSERT_THAT(s.callback("curious", [held = captured()] {}), IsOk());
  check(2, "a callback that ran");
  const auto never = rt.create_signal();
  ASSERT_THAT(s.wait(never), IsOk());
  ASSERT_THAT(s.launch("curious", [held = captured()] {}), IsOk());
  ASSERT_THAT(s.abort(), IsOk());
  check(3, "a kernel that an abort dropped");
  auto doomed = dev.create_context().value();
  auto last = doomed.create_stream().value();
  ASSERT_THAT(last.wait(never), IsOk());
  ASSERT_THAT(last.callback("curious", [held = captured()] {}), IsOk());
  ASSERT_THAT(doomed.destroy(), IsOk());
  check(4, "a callback that ended with its context");
  EXPECT_THAT(s.launch("later", [] {}), IsOk());
  EXPECT_THAT(s.synchronize(), IsOk());
}

TEST_F(callbacks, decision_8_what_only_looks_or_raises_is_allowed_inside_user_code) {
  const auto go = rt.create_signal();
  auto waiting = ctx.create_stream().value();
  ASSERT_THAT(waiting.wait(go), IsOk());
  auto mark = ctx.create_event().value();
  bool idle = true;
  ASSERT_THAT(s.callback("curious", [&] {
    idle = waiting.query().value() || !mark.query().value() || !ctx.health().ok();
    (void)dev.counters();
    (void)dev.compute();
    (void)s.counters();
    (void)s.failures();
    (void)rt.diagnostics();
    (void)rt.profile(0).value();
    go.raise();
  }), IsOk());
  EXPECT_THAT(waiting.synchronize(), IsOk());
  EXPECT_THAT(s.synchronize(), IsOk());
  EXPECT_FALSE(idle);
}

// Nobody may wait there for the code that he is in.
TEST(last_handles, a_runtime_may_end_inside_a_kernel_of_its_own) {
  LIVE_ONLY("its kernels wait for the test");
  auto options = test_options(1);
  options.stop_bound_ms = 60'000; // what it would take to wait for itself
  auto rt = std::make_unique<runtime>(options);
  auto ctx = rt->device(0).value().create_context().value();
  auto s = ctx.create_stream().value();
  gate ended;
  ended.open();
  ASSERT_THAT(s.launch("last", [&] {
    rt.reset();
    ended.pass();
  }), IsOk());
  ended.await_arrivals();
  EXPECT_THAT(s.launch("late", [] {}), HasCode(code::uninitialized));
  EXPECT_THAT(s.synchronize(), HasCode(code::uninitialized));
}

TEST(last_handles, a_runtime_may_end_with_what_its_kernels_captured) {
  LIVE_ONLY("it ends on a thread of its own");
  for (const bool dropped : {false, true}) {
    auto options = test_options(1);
    options.stop_bound_ms = 60'000; // what it would take to wait for itself
    auto rt = std::make_shared<runtime>(options);
    auto ctx = rt->device(0).value().create_context().value();
    auto s = ctx.create_stream().value();
    const auto go = rt->create_signal();
    const auto ended = std::make_shared<std::atomic<bool>>(false);
    auto last = std::make_shared<at_end>([ended, handle = std::move(rt)]() mutable {
      handle.reset();
      *ended = true;
    });
    ASSERT_THAT(s.wait(go), IsOk());
    ASSERT_THAT(s.launch("last", [held = std::move(last)] {}), IsOk());
    if (dropped) {
      (void)s.abort(); // of a runtime that ends meanwhile
    } else {
      go.raise();
    }
    await([&] { return ended->load(); });
    EXPECT_THAT(s.launch("late", [] {}), HasCode(code::uninitialized));
  }
}

} // namespace
} // namespace troupe
