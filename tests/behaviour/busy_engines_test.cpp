// Control while every compute engine is in a kernel that only the test can end: L3.

#include <memory>
#include <vector>

#include "tests/behaviour/side_thread.hpp"

namespace troupe {
namespace {

runtime_options one_worker_options() {
  auto made = test_options();
  made.control_workers = 1;
  made.stop_bound_ms = 20;
  return made;
}

class busy_engines : public stage_test {
protected:
  busy_engines() : stage_test(one_worker_options()) {}
  ~busy_engines() override { let_go(); }

  // Fills every compute thread with a kernel that takes no notice of anything.
  void SetUp() override {
    if (simulated()) return; // none of these tests is
    const auto stuck = [in = door, out = left] {
      in->pass();
      out->pass();
    };
    for (unsigned i = 0; i < engines; ++i) {
      auto& each = stuck_streams.emplace_back(ctx.create_stream().value());
      ASSERT_THAT(each.launch("endless", stuck), IsOk());
    }
    door->await_arrivals(engines);
    ASSERT_EQ(dev.counters().compute.running, engines);
  }

  // Ends the kernels, so that the process has no thread in them when it goes.
  void let_go() {
    if (stuck_streams.empty()) return;
    left->open();
    door->open();
    left->await_arrivals(engines);
  }

  const unsigned engines = test_workers();
  std::shared_ptr<gate> door = std::make_shared<gate>();
  std::shared_ptr<gate> left = std::make_shared<gate>();
  std::vector<stream> stuck_streams;
};

TEST_F(busy_engines, L3_queries_submissions_and_aborts_answer) {
  LIVE_ONLY("real engines side by side");
  for (int i = 0; i < 100; ++i) {
    ASSERT_THAT(s.launch("queued", [] {}), IsOk());
    ASSERT_FALSE(s.query().value());
    ASSERT_FALSE(stuck_streams.front().query().value());
  }
  EXPECT_THAT(s.abort(), IsOk());
  EXPECT_THAT(s.synchronize(), IsOk()) << "what was aborted before it began has ended";
  EXPECT_TRUE(s.query().value());
  EXPECT_EQ(dev.counters().compute.running, engines);
}

TEST_F(busy_engines, L3_making_and_ending_things_works) {
  LIVE_ONLY("real engines side by side");
  auto extra = ctx.create_stream();
  ASSERT_THAT(extra, IsOk());
  EXPECT_THAT(ctx.allocate<int>(1024), IsOk());
  EXPECT_THAT(ctx.create_event(), IsOk());
  EXPECT_THAT(dev.memory(), IsOk());
  EXPECT_THAT(extra.value().destroy(), IsOk());
  auto tenant = dev.create_context();
  ASSERT_THAT(tenant, IsOk());
  EXPECT_THAT(tenant.value().destroy(), IsOk());
}

TEST_F(busy_engines, L3_copies_and_callbacks_run) {
  LIVE_ONLY("real engines side by side");
  std::vector<int> host(256, 6);
  auto memory = ctx.allocate<int>(host.size()).value();
  bool called = false;
  EXPECT_THAT(s.copy(memory, host), IsOk());
  EXPECT_THAT(s.callback("call", [&] { called = true; }), IsOk());
  std::vector<int> back(host.size());
  EXPECT_THAT(s.copy(back, memory), IsOk());
  EXPECT_TRUE(called);
  EXPECT_EQ(back, host);
}

TEST_F(busy_engines, L3_wait_with_a_limit_expires_and_names_the_kernel) {
  LIVE_ONLY("real engines side by side");
  const auto outcome = stuck_streams.front().synchronize(timeout(1));
  EXPECT_THAT(outcome, HasCode(code::stream_sync_timeout));
  EXPECT_THAT(outcome, SaysThat("endless"));
}

TEST_F(busy_engines, L3_forced_destroy_ends_and_frees_an_engine) {
  LIVE_ONLY("real engines side by side");
  bool ran = false;
  ASSERT_THAT(s.launch("queued", [&] { ran = true; }), IsOk());
  ASSERT_THAT(stuck_streams.front().destroy(true), IsOk());
  EXPECT_THAT(s.synchronize(), IsOk());
  EXPECT_TRUE(ran);
}

TEST_F(busy_engines, L3_shutdown_ends_and_names_the_threads_that_do_not) {
  LIVE_ONLY("real engines side by side");
  side_thread waiter([&] { return stuck_streams.front().synchronize(); });
  ASSERT_TRUE(waiter.waits_for(stuck_streams.front()));
  const auto outcome = rt.shutdown();
  EXPECT_THAT(outcome, HasCode(code::internal_error));
  EXPECT_THAT(outcome, SaysThat("a thread of the compute lane, still in user code"));
  EXPECT_FALSE(waiter.join().ok());
  EXPECT_THAT(s.launch("late", [] {}), HasCode(code::uninitialized));
  EXPECT_THAT(s.query(), HasCode(code::uninitialized));
  EXPECT_THAT(rt.shutdown(), HasCode(code::internal_error)) << "a second one says the same";
}

} // namespace
} // namespace troupe
