// Getting away from kernels that never end: G1.

#include <atomic>
#include <memory>
#include <stdexcept>
#include <vector>

#include "actors/context_record.hpp"
#include "actors/device_record.hpp"
#include "tests/behaviour/side_thread.hpp"

namespace troupe {
namespace {

// A short stop bound, as kernels here ignore the stop; nothing below measures it.
runtime_options impatient_options() {
  auto made = test_options();
  made.stop_bound_ms = 20;
  return made;
}

class polite_kernels : public stage_test {
protected:
  polite_kernels() : stage_test(patient_options()) {}
};

class recovery : public stage_test {
protected:
  explicit recovery(runtime_options options = impatient_options())
      : stage_test(std::move(options)) {}
  ~recovery() override { door->open(); }

  // A kernel that ends only when the test opens the door; simulated, one that never ends.
  void launch_stuck(stream& on) {
    ASSERT_THAT(on.launch(stuck_kernel, [held = door] { held->pass(); }), IsOk());
    if (!simulated()) door->await_arrivals(++stuck);
  }

  std::shared_ptr<gate> door = std::make_shared<gate>();
  std::size_t stuck = 0;
};

TEST_F(polite_kernels, G1_abort_ends_a_kernel_that_polls_its_block_and_releases_the_waiter) {
  LIVE_ONLY("its kernels wait for the test");
  gate begun;
  begun.open();
  std::atomic<bool> told = false;
  const auto endless = [&](block b) {
    begun.pass();
    while (!b.stop_requested()) std::this_thread::yield();
    told = true;
  };
  ASSERT_THAT(s.launch("endless", endless), IsOk());
  side_thread waiter([&] { return s.synchronize(); });
  begun.await_arrivals();
  ASSERT_TRUE(waiter.waits_for(s));
  ASSERT_THAT(s.abort(), IsOk());
  EXPECT_THAT(waiter.join(), HasCode(code::stream_abort));
  EXPECT_THAT(s.launch("after", [] {}), IsOk());
  EXPECT_THAT(s.synchronize(), IsOk());
  EXPECT_TRUE(told);
}

TEST_F(polite_kernels, G1_every_block_of_a_split_kernel_is_told_to_stop) {
  LIVE_ONLY("its kernels wait for the test");
  gate begun;
  begun.open();
  std::atomic<unsigned> blocks = 0;
  std::atomic<unsigned> told = 0;
  const auto endless = [&](block b) {
    ++blocks;
    begun.pass();
    while (!b.stop_requested()) std::this_thread::yield();
    ++told;
  };
  ASSERT_THAT(s.launch({"endless", test_workers() + 4}, endless), IsOk());
  begun.await_arrivals(test_workers()); // each engine has one, and no engine is left for the rest
  ASSERT_THAT(s.abort(), IsOk());
  EXPECT_THAT(s.synchronize(), IsOk());
  EXPECT_EQ(told, test_workers());
  EXPECT_EQ(blocks, test_workers()) << "a block began after the stop";
}

TEST_F(recovery, G1_abort_releases_the_waiter_of_a_kernel_that_ignores_it) {
  ASSERT_NO_FATAL_FAILURE(launch_stuck(s));
  side_thread waiter([&] { return s.synchronize(); });
  ASSERT_TRUE(waiter.waits_for(s));
  ASSERT_THAT(s.abort(), IsOk());
  EXPECT_THAT(waiter.join(), HasCode(code::stream_abort)); // the door is still shut
}

TEST_F(recovery, G1_device_and_stream_go_on_without_an_engine_that_never_returns) {
  ASSERT_NO_FATAL_FAILURE(launch_stuck(s));
  std::atomic<bool> dropped_ran = false;
  ASSERT_THAT(s.launch("dropped", [&] { dropped_ran = true; }), IsOk());
  ASSERT_THAT(s.abort(), IsOk());
  auto other = ctx.create_stream().value();
  int done = 0;
  ASSERT_THAT(other.launch("elsewhere", [&] { ++done; }), IsOk());
  EXPECT_THAT(other.synchronize(), IsOk());
  ASSERT_THAT(s.launch("again", [&] { ++done; }), IsOk());
  EXPECT_THAT(s.synchronize(), IsOk());
  EXPECT_EQ(done, 2) << "while the door was shut";
  EXPECT_FALSE(dropped_ran);
}

TEST_F(recovery, G1_device_survives_more_stuck_kernels_than_it_has_engines) {
  for (unsigned i = 0; i <= test_workers(); ++i) {
    ASSERT_NO_FATAL_FAILURE(launch_stuck(s));
    ASSERT_THAT(s.abort(), IsOk());
    bool done = false;
    ASSERT_THAT(s.launch("after", [&] { done = true; }), IsOk());
    ASSERT_THAT(s.synchronize(), IsOk());
    ASSERT_TRUE(done);
  }
}

TEST_F(recovery, G1_stop_mode_gives_up_on_a_kernel_that_ignores_it) {
  LIVE_ONLY("its kernels wait for the test");
  auto other = ctx.create_stream().value();
  ASSERT_THAT(s.set_failure_mode(failure_mode::stop), IsOk());
  ASSERT_NO_FATAL_FAILURE(launch_stuck(s));
  ASSERT_THAT(other.callback("bad", [] { throw std::runtime_error("on purpose"); }), IsOk());
  EXPECT_THAT(s.destroy(), IsOk()) << "while the door is shut";
  EXPECT_THAT(ctx.synchronize(), HasCode(code::internal_error));
}

TEST_F(recovery, G1_engines_that_come_back_leave_no_more_than_there_were) {
  LIVE_ONLY("its kernels wait for the test");
  const auto rounds = 2 * test_workers() + 1;
  for (unsigned i = 0; i < rounds; ++i) {
    ASSERT_NO_FATAL_FAILURE(launch_stuck(s));
    ASSERT_THAT(s.abort(), IsOk());
    ASSERT_THAT(s.launch("after", [] {}), IsOk());
    ASSERT_THAT(s.synchronize(), IsOk());
  }
  EXPECT_GT(dev.counters().compute.engines, rounds);
  door->open();
  await([&] { return dev.counters().compute.engines <= test_workers(); });
  std::atomic<unsigned> inside = 0;
  std::atomic<unsigned> most = 0;
  std::vector<stream> streams;
  for (unsigned i = 0; i < rounds; ++i) {
    auto& each = streams.emplace_back(ctx.create_stream().value());
    ASSERT_THAT(each.launch("counts", [&] {
      const auto now = ++inside;
      for (auto seen = most.load(); seen < now && !most.compare_exchange_weak(seen, now);) {
      }
      std::this_thread::yield();
      --inside;
    }), IsOk());
  }
  EXPECT_THAT(ctx.synchronize(), IsOk());
  EXPECT_LE(most, test_workers());
  ASSERT_NO_FATAL_FAILURE(launch_stuck(s)); // the door is open: the engines still serve
  EXPECT_THAT(s.synchronize(), IsOk());
}

class split_recovery : public recovery {
protected:
  static constexpr unsigned engines = 3;
  static runtime_options three_engines() {
    auto made = impatient_options();
    made.compute_threads = engines;
    return made;
  }
  split_recovery() : recovery(three_engines()) {}
};

TEST_F(split_recovery, G1_every_engine_in_a_split_kernel_is_replaced) {
  LIVE_ONLY("its blocks run side by side");
  const auto& port = s.state()->record->context().device().port(engine_kind::compute);
  unsigned expected = 0;
  for (const auto blocks : {engines, 1U, engines}) {
    ASSERT_THAT(s.launch({"stuck", blocks}, [held = door] { held->pass(); }), IsOk());
    expected += blocks;
    door->await_arrivals(expected);
    ASSERT_THAT(s.abort(), IsOk());
    gate again;
    ASSERT_THAT(s.launch({"after", engines}, [&again] { again.pass(); }), IsOk());
    again.await_arrivals(engines); // all at once
    again.open();
    EXPECT_THAT(s.synchronize(), IsOk());
    EXPECT_EQ(port.stuck(), expected) << "while the door is shut";
  }
  door->open();
  await([&] { return port.stuck() == 0; });
  await([&] { return dev.counters().compute.engines <= engines; });
}

TEST_F(recovery, G1_return_of_a_kernel_that_was_given_up_on_disturbs_nobody) {
  LIVE_ONLY("its kernels wait for the test");
  ASSERT_NO_FATAL_FAILURE(launch_stuck(s));
  ASSERT_THAT(s.abort(), IsOk());
  int done = 0;
  ASSERT_THAT(s.launch("after", [&] { ++done; }), IsOk());
  ASSERT_THAT(s.synchronize(), IsOk());
  door->open();
  for (int i = 0; i < 100; ++i) ASSERT_THAT(s.launch("more", [&] { ++done; }), IsOk());
  EXPECT_THAT(s.synchronize(), IsOk());
  EXPECT_EQ(done, 101);
  EXPECT_EQ(s.counters().completed, s.counters().submitted);
}

TEST_F(recovery, G1_forced_destroy_ends_though_the_kernel_does_not) {
  auto other = ctx.create_stream().value();
  ASSERT_NO_FATAL_FAILURE(launch_stuck(s));
  side_thread waiter([&] { return s.synchronize(); });
  ASSERT_TRUE(waiter.waits_for(s));
  ASSERT_THAT(s.destroy(true), IsOk());
  EXPECT_THAT(waiter.join(), HasCode(code::stream_abort));
  EXPECT_THAT(s.query(), HasCode(code::invalid_handle));
  EXPECT_THAT(other.launch("elsewhere", [] {}), IsOk());
  EXPECT_THAT(other.synchronize(), IsOk());
}

TEST_F(recovery, G1_abort_ends_a_plain_destroy_that_waits_for_ever) {
  const auto record = s.state()->record;
  ASSERT_THAT(s.wait(rt.create_signal()), IsOk());
  side_thread destroyer([&] { return s.destroy(); });
  await([&] { return record->closed(); });
  EXPECT_THAT(s.abort(), IsOk());
  EXPECT_THAT(destroyer.join(), HasCode(code::stream_abort)) << "its work was dropped";
  EXPECT_THAT(s.abort(), HasCode(code::invalid_handle)) << "it has ended";
}

TEST_F(recovery, G1_force_reaches_a_stream_that_is_being_destroyed) {
  ASSERT_NO_FATAL_FAILURE(launch_stuck(s));
  const auto record = s.state()->record;
  side_thread destroyer([&] { return s.destroy(); });
  await([&] { return record->closed(); });
  EXPECT_THAT(s.destroy(), HasCode(code::invalid_handle));
  EXPECT_THAT(s.destroy(true), IsOk());
  EXPECT_THAT(destroyer.join(), HasCode(code::stream_abort)) << "its work was dropped";
  EXPECT_THAT(s.destroy(true), HasCode(code::invalid_handle)) << "it has ended";
}

TEST_F(recovery, G1_utilisation_stays_a_share_with_more_stuck_kernels_than_engines) {
  LIVE_ONLY("it is about real time");
  for (unsigned i = 0; i < 3 * test_workers(); ++i) {
    ASSERT_NO_FATAL_FAILURE(launch_stuck(s));
    ASSERT_THAT(s.abort(), IsOk());
    ASSERT_THAT(s.synchronize(), IsOk());
  }
  device_counters seen;
  do {
    seen = dev.counters();
    ASSERT_LE(seen.utilisation(), 1.0);
    // Until the stuck engines were busy for longer than the whole device can be.
  } while (seen.compute.busy_ns <= static_cast<std::int64_t>(test_workers()) * seen.elapsed_ns);
  EXPECT_EQ(seen.utilisation(), 1.0);
}

// -- the limit of what is given up on -----------------------------------------

class limited_recovery : public recovery {
protected:
  static runtime_options few_stuck() {
    auto made = impatient_options();
    made.stuck_threads_max = 2;
    return made;
  }
  limited_recovery() : recovery(few_stuck()) {}

  void give_up(unsigned count) {
    for (unsigned i = 0; i < count; ++i) {
      ASSERT_NO_FATAL_FAILURE(launch_stuck(s));
      ASSERT_THAT(s.abort(), IsOk());
      ASSERT_THAT(s.synchronize(), IsOk());
    }
    // The stream may go on a moment before the engine is counted.
    const auto& port = s.state()->record->context().device().port(engine_kind::compute);
    await([&] { return port.stuck() >= count; });
  }
};

TEST_F(limited_recovery, G1_at_the_limit_of_stuck_kernels_a_device_refuses_further_ones_at_once) {
  LIVE_ONLY("it counts real threads");
  auto other = ctx.create_stream().value();
  ASSERT_NO_FATAL_FAILURE(give_up(1));
  EXPECT_THAT(other.launch("below the limit", [] {}), IsOk());
  EXPECT_THAT(other.synchronize(), IsOk());
  ASSERT_NO_FATAL_FAILURE(give_up(1));
  await([&] { return !rt.diagnostics().empty(); });
  for (auto* each : {&s, &other}) {
    const auto refused = each->launch("too late", [] { ADD_FAILURE() << "it ran"; });
    EXPECT_THAT(refused, HasCode(code::over_limit));
    EXPECT_THAT(refused, SaysThat("stuck_threads_max"));
    EXPECT_THAT(refused, SaysThat("at 2 "));
    EXPECT_THAT(each->synchronize(), IsOk()) << "nothing was accepted";
  }
  EXPECT_EQ(rt.diagnostics().front().what, diagnostic::kind::stuck_threads);
  EXPECT_THAT(rt.diagnostics().front().message, ::testing::HasSubstr("stuck_threads_max"));
}

TEST_F(limited_recovery, G1_at_the_limit_copies_callbacks_waits_and_other_devices_go_on) {
  LIVE_ONLY("it counts real threads");
  ASSERT_NO_FATAL_FAILURE(give_up(2));
  await([&] { return !rt.diagnostics().empty(); });
  auto neighbour = rt.device(1).value().create_context().value();
  auto elsewhere = neighbour.create_stream().value();
  EXPECT_THAT(elsewhere.launch("work", [] {}), IsOk());
  EXPECT_THAT(elsewhere.synchronize(), IsOk());
  std::vector<int> host(64, 1);
  auto memory = ctx.allocate<int>(host.size()).value();
  EXPECT_THAT(s.copy(memory, host), IsOk());
  bool called = false;
  EXPECT_THAT(s.callback("call", [&] { called = true; }), IsOk());
  const auto go = rt.create_signal();
  EXPECT_THAT(s.wait(go), IsOk());
  go.raise();
  EXPECT_THAT(s.synchronize(), IsOk());
  EXPECT_TRUE(called);
}

TEST_F(limited_recovery, G1_a_device_takes_kernels_again_when_a_stuck_one_returns) {
  LIVE_ONLY("its kernels wait for the test");
  ASSERT_NO_FATAL_FAILURE(give_up(2));
  await([&] { return !rt.diagnostics().empty(); });
  ASSERT_THAT(s.launch("too late", [] {}), HasCode(code::over_limit));
  door->open();
  status accepted;
  do {
    accepted = s.launch("again", [] {});
  } while (accepted.code() == code::over_limit);
  EXPECT_THAT(accepted, IsOk());
  EXPECT_THAT(s.synchronize(), IsOk());
}

TEST_F(recovery, G1_forced_reset_after_an_abort_ends_and_the_device_can_be_set_again) {
  ASSERT_THAT(rt.set_device(0), IsOk());
  auto primary = current::default_stream().value();
  ASSERT_NO_FATAL_FAILURE(launch_stuck(primary));
  ASSERT_THAT(primary.abort(), IsOk());
  EXPECT_THAT(rt.reset_device(0, true), IsOk());
  EXPECT_FALSE(primary.query().ok()) << "its context is gone, and it with it";
  ASSERT_THAT(rt.set_device(0), IsOk());
  auto fresh = current::default_stream().value();
  EXPECT_THAT(fresh.launch("fresh", [] {}), IsOk());
  EXPECT_THAT(current::synchronize(), IsOk());
  EXPECT_THAT(rt.reset_device(0), IsOk());
  current::unbind();
}

TEST_F(recovery, G1_abort_of_a_stuck_callback_lets_its_stream_go_on) {
  LIVE_ONLY("its kernels wait for the test");
  ASSERT_THAT(s.callback("stuck", [held = door] { held->pass(); }), IsOk());
  door->await_arrivals();
  ASSERT_THAT(s.abort(), IsOk());
  bool done = false;
  ASSERT_THAT(s.callback("after", [&] { done = true; }), IsOk());
  EXPECT_THAT(s.synchronize(), IsOk());
  EXPECT_TRUE(done);
}

} // namespace
} // namespace troupe
