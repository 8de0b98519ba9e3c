// Contexts and the threads that use them: A1, A2, A5, and of Decision 16 what has no id of its own.

#include <array>
#include <atomic>
#include <functional>
#include <thread>
#include <vector>

#include "tests/behaviour/side_thread.hpp"
#include "tests/support/stage.hpp"

namespace troupe {
namespace {

using ::testing::AnyOf;

/// Two devices with a context each; no binding of the main thread reaches the next test.
class contexts : public stage_test {
protected:
  void TearDown() override { current::unbind(); }

  context elsewhere = rt.device(1).value().create_context().value();
};

template <class Body>
void on_new_thread(Body body) {
  test_thread(body).join();
}

// -- A1 -----------------------------------------------------------------------

TEST_F(contexts, A1_a_thread_without_a_current_context_is_refused_until_it_binds_one) {
  ASSERT_THAT(rt.set_device(0), IsOk());
  const auto shared = current::context().value();
  auto target = shared.allocate<int>(4).value();
  const std::vector<int> source{1, 2, 3, 4};
  on_new_thread([&] {
    const auto before = dev.counters().allocations;
    EXPECT_THAT(current::memory(), HasCode(code::context_null));
    EXPECT_THAT(current::allocate<int>(4), HasCode(code::context_null));
    EXPECT_THAT(current::copy_async(target, source), HasCode(code::context_null));
    EXPECT_THAT(current::context(), HasCode(code::context_null));
    EXPECT_THAT(current::default_stream(), HasCode(code::context_null));
    EXPECT_THAT(current::synchronize(), HasCode(code::context_null));
    EXPECT_EQ(dev.counters().allocations, before);
    EXPECT_EQ(shared.default_stream().value().counters().submitted, 0U);

    ASSERT_THAT(shared.bind(), IsOk());
    EXPECT_THAT(current::memory(), IsOk());
    EXPECT_THAT(current::allocate<int>(4), IsOk());
    EXPECT_THAT(current::copy_async(target, source), IsOk());
    EXPECT_THAT(current::synchronize(), IsOk());
  });
  std::vector<int> seen(4);
  ASSERT_THAT(shared.copy(seen, target), IsOk());
  EXPECT_EQ(seen, source);
}

TEST_F(contexts, A1_binding_on_one_thread_changes_no_other_thread) {
  ASSERT_THAT(ctx.bind(), IsOk());
  on_new_thread([&] {
    ASSERT_THAT(elsewhere.bind(), IsOk());
    EXPECT_EQ(current::context().value().id(), elsewhere.id());
  });
  EXPECT_EQ(current::context().value().id(), ctx.id());
  on_new_thread([] { current::unbind(); });
  EXPECT_EQ(current::context().value().id(), ctx.id());
}

TEST_F(contexts, A1_a_thread_that_ends_is_told_that_it_cannot_be_bound_any_more) {
  LIVE_ONLY("a destructor of a thread that ends");
  struct at_end {
    std::function<void()> action;
    ~at_end() {
      if (action) action();
    }
  };
  status bind;
  status set;
  std::thread([&] {
    thread_local at_end last; // made before the binding, and so ended after it
    last.action = [&] {
      bind = ctx.bind();
      set = rt.set_device(0);
    };
    EXPECT_THAT(ctx.bind(), IsOk());
  }).join();
  EXPECT_THAT(bind, HasCode(code::not_supported));
  EXPECT_THAT(set, HasCode(code::not_supported));
  EXPECT_THAT(rt.reset_device(0), HasCode(code::context_released)) << "no use was taken";
}

TEST_F(contexts, A1_set_device_binds_the_calling_thread) {
  ASSERT_THAT(rt.set_device(1), IsOk());
  EXPECT_EQ(current::context().value().device_index(), 1U);
  on_new_thread([] { EXPECT_THAT(current::context(), HasCode(code::context_null)); });
}

TEST_F(contexts, A1_events_answer_on_threads_without_a_current_context) {
  const auto begin = ctx.create_event().value();
  const auto end = ctx.create_event().value();
  ASSERT_THAT(s.record(begin), IsOk());
  ASSERT_THAT(s.launch("between", [] {}), IsOk());
  ASSERT_THAT(s.record(end), IsOk());
  on_new_thread([&] {
    EXPECT_THAT(end.synchronize(), IsOk());
    EXPECT_TRUE(end.query().value());
    EXPECT_THAT(end.elapsed_since(begin), IsOk());
  });
}

// -- A2 -----------------------------------------------------------------------

TEST_F(contexts, A2_a_stream_is_refused_while_another_context_is_current_and_stays_intact) {
  auto memory = ctx.allocate<int>(1).value();
  const auto mark = ctx.create_event().value();
  const std::array<int, 1> one{1};
  const auto other = rt.device(1).value();
  ASSERT_THAT(elsewhere.bind(), IsOk());

  EXPECT_THAT(s.launch("foreign", [] {}), HasCode(code::stream_context));
  EXPECT_THAT(s.copy(memory, one), HasCode(code::stream_context));
  EXPECT_THAT(s.fill_bytes(memory, 1), HasCode(code::stream_context));
  EXPECT_THAT(s.callback("foreign", [] {}), HasCode(code::stream_context));
  EXPECT_THAT(s.record(mark), HasCode(code::stream_context));
  EXPECT_THAT(s.wait(mark), HasCode(code::stream_context));
  EXPECT_THAT(s.wait(rt.create_signal()), HasCode(code::stream_context));
  EXPECT_THAT(s.set_failure_mode(failure_mode::stop), HasCode(code::stream_context));
  EXPECT_THAT(s.destroy(), HasCode(code::stream_context));
  EXPECT_THAT(s.destroy(true), HasCode(code::stream_context));
  EXPECT_EQ(s.counters().submitted, 0U);

  ASSERT_THAT(ctx.bind(), IsOk());
  EXPECT_THAT(s.copy(memory, one), IsOk());
  EXPECT_THAT(s.launch("at home", [] {}), IsOk());
  EXPECT_THAT(s.synchronize(), IsOk());
  EXPECT_EQ(s.counters().completed, 2U);
  EXPECT_THAT(s.destroy(), IsOk());
  const auto after = other.counters();
  EXPECT_EQ(after.compute.commands + after.dma_h2d.commands + after.dma_d2d.commands +
                after.callback.commands + after.allocations,
            0U);
}

TEST_F(contexts, decision_16_synchronise_and_query_cross_contexts_and_keep_the_current_one) {
  ASSERT_THAT(s.launch("work", [] {}), IsOk());
  ASSERT_THAT(elsewhere.bind(), IsOk());
  EXPECT_THAT(s.synchronize(), IsOk());
  EXPECT_TRUE(s.query().value());
  EXPECT_THAT(ctx.synchronize(), IsOk());
  EXPECT_EQ(current::context().value().id(), elsewhere.id());
}

// -- A5 -----------------------------------------------------------------------

TEST_F(contexts, A5_the_first_call_after_a_destroy_says_so_and_unbinds_the_thread) {
  gate bound;
  gate destroyed;
  test_thread user([&] {
    ASSERT_THAT(ctx.bind(), IsOk());
    bound.pass();
    destroyed.pass();
    EXPECT_THAT(s.launch("late", [] {}), HasCode(code::context_released));
    EXPECT_THAT(current::default_stream(), HasCode(code::context_null));
    EXPECT_THAT(s.launch("later", [] {}),
                AnyOf(HasCode(code::context_released), HasCode(code::invalid_handle)));
  });
  bound.await_arrivals();
  bound.open();
  ASSERT_THAT(ctx.destroy(), IsOk());
  destroyed.open();
  user.join();
  EXPECT_EQ(s.counters().submitted, 0U);
}

TEST_F(contexts, A5_calls_for_the_current_context_say_once_that_it_was_destroyed) {
  ASSERT_THAT(ctx.bind(), IsOk());
  ASSERT_THAT(ctx.destroy(), IsOk());
  EXPECT_THAT(current::allocate<int>(1), HasCode(code::context_released));
  EXPECT_THAT(current::allocate<int>(1), HasCode(code::context_null));
}

TEST_F(contexts, A5_a_destroyed_context_refuses_every_call) {
  ASSERT_THAT(ctx.destroy(), IsOk());
  EXPECT_THAT(ctx.destroy(), HasCode(code::invalid_handle));
  EXPECT_THAT(ctx.create_stream(), HasCode(code::context_released));
  EXPECT_THAT(ctx.default_stream(), HasCode(code::context_released));
  EXPECT_THAT(ctx.create_event(), HasCode(code::context_released));
  EXPECT_THAT(ctx.create_pool(), HasCode(code::context_released));
  EXPECT_THAT(ctx.allocate<int>(1), HasCode(code::context_released));
  EXPECT_THAT(ctx.synchronize(), HasCode(code::context_released));
  EXPECT_THAT(ctx.bind(), HasCode(code::context_released));
  EXPECT_THAT(ctx.health(), HasCode(code::context_released));
  EXPECT_THAT(elsewhere.create_stream(), IsOk());
}

TEST_F(contexts, A5_destroying_a_context_lets_its_stuck_work_and_waiting_threads_go) {
  ASSERT_THAT(s.wait(rt.create_signal()), IsOk()); // never raised
  std::atomic<bool> ran = false;
  ASSERT_THAT(s.launch("behind", [&ran] { ran = true; }), IsOk());
  side_thread waiter([this] { return s.synchronize(); });
  ASSERT_TRUE(waiter.waits_for(s));
  EXPECT_THAT(ctx.destroy(), IsOk());
  EXPECT_THAT(waiter.join(), HasCode(code::stream_abort));
  EXPECT_FALSE(ran);
}

TEST_F(contexts, A5_stale_streams_stay_refused_however_many_new_ones_are_made) {
  constexpr int rounds = 1'000;
  const auto mark = ctx.create_event().value(); // on another stream, and not reached
  const auto hold = rt.create_signal();
  ASSERT_THAT(s.wait(hold), IsOk());
  ASSERT_THAT(s.record(mark), IsOk());
  std::vector<stream> stale;
  for (int i = 0; i < rounds; ++i) {
    auto made = ctx.create_stream().value();
    ASSERT_THAT(made.destroy(), IsOk());
    stale.push_back(std::move(made));
  }
  auto fresh = ctx.create_stream().value();
  for (auto& each : stale) {
    ASSERT_THAT(each.launch("stale", [] {}), HasCode(code::invalid_handle));
    ASSERT_THAT(each.record(mark), HasCode(code::invalid_handle));
    ASSERT_FALSE(mark.query().value()) << "the refused record changed nothing";
    ASSERT_THAT(each.wait(mark), HasCode(code::invalid_handle));
    ASSERT_THAT(each.wait(rt.create_signal()), HasCode(code::invalid_handle));
    ASSERT_THAT(each.synchronize(), HasCode(code::invalid_handle));
    ASSERT_THAT(each.query(), HasCode(code::invalid_handle));
    ASSERT_THAT(each.abort(), HasCode(code::invalid_handle));
    ASSERT_THAT(each.destroy(), HasCode(code::invalid_handle));
  }
  ASSERT_THAT(fresh.wait(mark), IsOk());
  EXPECT_THAT(fresh.launch("fresh", [] {}), IsOk());
  EXPECT_FALSE(fresh.query().value());
  hold.raise();
  EXPECT_THAT(fresh.synchronize(), IsOk());
}

class few_streams : public stage_test {
protected:
  static runtime_options limited() {
    auto made = test_options(1);
    made.devices[0].stream_limit = 4; // two of the stage, two of the next context
    return made;
  }
  few_streams() : stage_test(limited()) {}
};

TEST_F(few_streams, A5_idle_streams_of_a_destroyed_context_count_no_more) {
  for (int i = 0; i < 200; ++i) {
    const auto next = dev.create_context();
    ASSERT_THAT(next, IsOk()) << i;
    const auto own = next.value().create_stream();
    ASSERT_THAT(own, IsOk()) << i;
    ASSERT_THAT(next.value().create_stream(), HasCode(code::resource_shortage));
    ASSERT_THAT(next.value().destroy(), IsOk());
    ASSERT_EQ(dev.counters().streams, 2U) << i;
  }
}

TEST_F(contexts, A5_stale_events_stay_refused) {
  auto stale = ctx.create_event().value();
  ASSERT_THAT(s.record(stale), IsOk());
  ASSERT_THAT(stale.destroy(), IsOk());
  const auto fresh = ctx.create_event().value();
  ASSERT_THAT(s.record(fresh), IsOk());
  EXPECT_THAT(s.record(stale), HasCode(code::invalid_handle));
  EXPECT_THAT(s.wait(stale), HasCode(code::invalid_handle));
  EXPECT_THAT(stale.query(), HasCode(code::invalid_handle));
  EXPECT_THAT(stale.synchronize(), HasCode(code::invalid_handle));
  EXPECT_THAT(stale.elapsed_since(fresh), HasCode(code::invalid_handle));
  EXPECT_THAT(stale.destroy(), HasCode(code::invalid_handle));
}

} // namespace
} // namespace troupe
