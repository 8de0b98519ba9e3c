// Devices: A3, A6, and the choice of the least loaded one.

#include <array>
#include <atomic>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include "tests/support/stage.hpp"

namespace troupe {
namespace {

using ::testing::AnyOf;

class devices : public stage_test {
protected:
  devices() : stage_test(test_options(4)) {}
  void TearDown() override { current::unbind(); }
};

// -- A3 -----------------------------------------------------------------------

TEST_F(devices, A3_uses_of_one_primary_context_are_counted_over_threads) {
  ASSERT_THAT(rt.set_device(0), IsOk());
  const auto shared = current::context().value();
  ASSERT_THAT(rt.set_device(0), IsOk());
  for (int i = 0; i < 2; ++i) {
    test_thread([&] {
      for (int k = 0; k < 2; ++k) {
        ASSERT_THAT(rt.set_device(0), IsOk());
        EXPECT_EQ(current::context().value().id(), shared.id());
      }
    }).join();
  }
  auto stream = shared.create_stream().value();
  auto memory = shared.allocate<int>(1).value();
  for (int resets = 0; resets < 5; ++resets) ASSERT_THAT(rt.reset_device(0), IsOk());
  EXPECT_THAT(current::default_stream().value().launch("still set", [] {}), IsOk());
  EXPECT_THAT(current::synchronize(), IsOk());

  ASSERT_THAT(rt.reset_device(0), IsOk());
  EXPECT_THAT(current::context(), HasCode(code::context_null));
  EXPECT_THAT(stream.launch("too late", [] {}),
              AnyOf(HasCode(code::context_released), HasCode(code::invalid_handle)));
  EXPECT_THAT(shared.allocate<int>(1), HasCode(code::context_released));
  EXPECT_THAT(rt.reset_device(0), HasCode(code::context_released));
}

TEST_F(devices, A3_a_forced_reset_ends_all_uses_once) {
  for (int i = 0; i < 3; ++i) ASSERT_THAT(rt.set_device(0), IsOk());
  const auto old = current::context().value();
  ASSERT_THAT(rt.reset_device(0, true), IsOk());
  EXPECT_THAT(old.health(), HasCode(code::context_released));
  EXPECT_THAT(rt.reset_device(0, true), HasCode(code::context_released));
  EXPECT_THAT(rt.reset_device(0), HasCode(code::context_released));
  ASSERT_THAT(rt.set_device(0), IsOk());
  EXPECT_NE(current::context().value().id(), old.id());
  EXPECT_THAT(rt.reset_device(0), IsOk());
}

TEST_F(devices, A3_a_reset_that_ends_the_context_lets_its_work_end_first) {
  LIVE_ONLY("its kernels wait for the test");
  for (const bool force : {false, true}) {
    ASSERT_THAT(rt.set_device(0), IsOk());
    auto stream = current::context().value().create_stream().value();
    std::atomic<bool> resetting = false;
    std::atomic<int> ran = 0;
    ASSERT_THAT(stream.launch("until the reset", [&resetting] { resetting.wait(false); }), IsOk());
    constexpr int behind = 500;
    for (int i = 0; i < behind; ++i) {
      ASSERT_THAT(stream.launch("behind", [&ran] { ++ran; }), IsOk());
    }
    resetting = true;
    resetting.notify_all();
    EXPECT_THAT(rt.reset_device(0, force), IsOk());
    EXPECT_EQ(ran, behind) << "force: " << force;
    current::unbind();
  }
}

TEST_F(devices, A3_contexts_of_the_users_own_outlive_a_reset) {
  ASSERT_THAT(rt.set_device(0), IsOk());
  ASSERT_THAT(rt.reset_device(0), IsOk());
  current::unbind();
  EXPECT_THAT(s.launch("own context", [] {}), IsOk());
  EXPECT_THAT(s.synchronize(), IsOk());
}

TEST_F(devices, A3_a_thread_that_ends_its_current_context_by_reset_has_none) {
  auto own = dev.create_context().value();
  auto elsewhere = own.create_stream().value();
  for (const bool force : {false, true}) {
    ASSERT_THAT(rt.set_device(0), IsOk());
    ASSERT_THAT(rt.reset_device(0, force), IsOk());
    EXPECT_THAT(elsewhere.launch("unrelated", [] {}), IsOk()) << "force: " << force;
    EXPECT_THAT(current::context(), HasCode(code::context_null));
  }
  EXPECT_THAT(elsewhere.synchronize(), IsOk());
}

TEST_F(devices, A3_a_reset_by_another_thread_is_told_once_to_those_it_concerns) {
  ASSERT_THAT(rt.set_device(0), IsOk());
  test_thread([&] { ASSERT_THAT(rt.reset_device(0), IsOk()); }).join();
  EXPECT_THAT(current::context(), HasCode(code::context_released));
  EXPECT_THAT(current::context(), HasCode(code::context_null));
}

TEST_F(devices, A3_a_reset_leaves_another_current_context_in_place) {
  ASSERT_THAT(rt.set_device(0), IsOk());
  ASSERT_THAT(ctx.bind(), IsOk());
  ASSERT_THAT(rt.reset_device(0), IsOk());
  EXPECT_EQ(current::context().value().id(), ctx.id());
}

TEST_F(devices, A3_the_primary_context_ends_by_reset_alone) {
  ASSERT_THAT(rt.set_device(0), IsOk());
  const auto shared = current::context().value();
  EXPECT_THAT(shared.destroy(), HasCode(code::invalid_parameter));
  EXPECT_THAT(shared.health(), IsOk());
  EXPECT_THAT(rt.reset_device(0), IsOk());
}

TEST_F(devices, A3_a_reset_of_what_was_never_set_or_does_not_exist_is_refused) {
  EXPECT_THAT(rt.reset_device(1), HasCode(code::context_released));
  for (const std::int64_t index : {-1, 4, 1'000'000}) {
    EXPECT_THAT(rt.set_device(index), HasCode(code::invalid_device));
    EXPECT_THAT(rt.reset_device(index), HasCode(code::invalid_device));
    EXPECT_THAT(rt.device(index), HasCode(code::invalid_device));
    EXPECT_THAT(rt.profile(index), HasCode(code::invalid_device));
  }
}

// -- A6 -----------------------------------------------------------------------

/// A context and a stream on each of the four devices.
class four_devices : public devices {
protected:
  void SetUp() override {
    for (std::int64_t i = 0; i < 4; ++i) {
      contexts_.push_back(rt.device(i).value().create_context().value());
      streams_.push_back(contexts_.back().create_stream().value());
    }
  }

  std::vector<context> contexts_;
  std::vector<stream> streams_;
};

TEST_F(four_devices, A6_an_event_is_recorded_on_streams_of_its_own_device_only) {
  for (std::size_t home = 0; home < 4; ++home) {
    for (std::size_t there = 0; there < 4; ++there) {
      const auto mark = contexts_[home].create_event().value();
      if (home == there) {
        EXPECT_THAT(streams_[there].record(mark), IsOk());
        EXPECT_THAT(mark.elapsed_since(mark), IsOk());
        continue;
      }
      const auto before = streams_[there].counters().submitted;
      EXPECT_THAT(streams_[there].record(mark), HasCode(code::stream_context));
      EXPECT_EQ(streams_[there].counters().submitted, before);
      EXPECT_THAT(mark.elapsed_since(mark), HasCode(code::internal_error)) << "not recorded";
    }
  }
}

TEST_F(four_devices, A6_a_refused_record_leaves_the_last_one_in_force) {
  const auto go = rt.create_signal();
  const auto mark = contexts_[0].create_event().value();
  ASSERT_THAT(streams_[0].wait(go), IsOk());
  ASSERT_THAT(streams_[0].record(mark), IsOk());
  EXPECT_THAT(streams_[1].record(mark), HasCode(code::stream_context));
  EXPECT_FALSE(mark.query().value());
  auto waiting = contexts_[0].create_stream().value();
  ASSERT_THAT(waiting.wait(mark), IsOk());
  EXPECT_FALSE(waiting.query().value()) << "it waits for the record in force";
  go.raise();
  EXPECT_THAT(mark.synchronize(), IsOk());
  EXPECT_THAT(waiting.synchronize(), IsOk());
  EXPECT_THAT(mark.elapsed_since(mark), IsOk());
}

TEST_F(four_devices, A6_streams_of_every_device_wait_for_an_event_of_any) {
  for (std::size_t home = 0; home < 4; ++home) {
    for (std::size_t there = 0; there < 4; ++there) {
      if (home == there) continue;
      const auto go = rt.create_signal();
      const auto mark = contexts_[home].create_event().value();
      std::atomic<int> written = 0;
      int seen = 0;
      ASSERT_THAT(streams_[home].wait(go), IsOk());
      ASSERT_THAT(streams_[home].launch("write", [&written] { written = 1; }), IsOk());
      ASSERT_THAT(streams_[home].record(mark), IsOk());
      ASSERT_THAT(streams_[there].wait(mark), IsOk());
      ASSERT_THAT(streams_[there].launch("read", [&] { seen = written; }), IsOk());
      EXPECT_FALSE(streams_[there].query().value());
      go.raise();
      EXPECT_THAT(streams_[there].synchronize(), IsOk());
      EXPECT_EQ(seen, 1);
      EXPECT_THAT(streams_[home].synchronize(), IsOk());
    }
  }
}

TEST_F(four_devices, A6_a_kernel_does_not_take_memory_of_another_device) {
  auto foreign = contexts_[1].allocate<int>(1).value();
  EXPECT_THAT(streams_[0].launch("foreign", [](std::span<int>) {}, foreign),
              HasCode(code::invalid_parameter));
  EXPECT_THAT(streams_[0].fill_bytes(foreign, 0), HasCode(code::invalid_parameter));
  EXPECT_EQ(streams_[0].counters().submitted, 0U);
}

// -- the least loaded device ----------------------------------------------------

TEST(environment, a_variable_that_sets_nothing_is_named_in_the_diagnostics) {
  ASSERT_EQ(::setenv("TROUPE_QUEUE_DEPHT", "4", 1), 0);
  const auto misspelt = runtime::create(test_options(), true);
  const auto plain = make_runtime(test_options());
  ASSERT_EQ(::unsetenv("TROUPE_QUEUE_DEPHT"), 0);
  ASSERT_THAT(misspelt, IsOk());
  const auto noted = misspelt.value().diagnostics();
  ASSERT_EQ(noted.size(), 1U);
  EXPECT_EQ(noted[0].what, diagnostic::kind::unknown_variable);
  EXPECT_NE(noted[0].message.find("TROUPE_QUEUE_DEPHT"), std::string::npos) << noted[0].message;
  EXPECT_TRUE(plain.diagnostics().empty()) << "it looks at no variable";
}

TEST(least_loaded, counts_busy_streams_first_then_streams_then_the_index) {
  LIVE_ONLY("its kernels wait for the test");
  auto rt = make_runtime(test_options(3));
  const auto chosen = [&rt] { return rt.least_loaded().value().index(); };
  EXPECT_EQ(chosen(), 0U);
  const auto on_0 = rt.device(0).value().create_context().value();
  EXPECT_EQ(chosen(), 1U);
  const auto on_1 = rt.device(1).value().create_context().value();
  const auto more_on_0 = on_0.create_stream().value();
  const auto on_2 = rt.device(2).value().create_context().value();
  const std::array more_on_2{on_2.create_stream().value(), on_2.create_stream().value()};
  EXPECT_EQ(chosen(), 1U) << "fewest streams";

  gate hold;
  auto busy = on_1.default_stream().value();
  ASSERT_THAT(busy.launch("hold", [&hold] { hold.pass(); }), IsOk());
  hold.await_arrivals();
  EXPECT_EQ(chosen(), 0U) << "device 1 is at work";
  hold.open();
  EXPECT_THAT(busy.synchronize(), IsOk());
  await([&] { return chosen() == 1U; }); // its engine lets go a moment later
}

TEST(least_loaded, does_not_count_streams_that_wait_for_a_signal) {
  auto rt = make_runtime(test_options(2));
  const auto on_0 = rt.device(0).value().create_context().value();
  const auto on_1 = rt.device(1).value().create_context().value();
  auto held = on_0.default_stream().value();
  const auto go = rt.create_signal();
  ASSERT_THAT(held.wait(go), IsOk());
  EXPECT_EQ(rt.least_loaded().value().index(), 0U);
  go.raise();
  EXPECT_THAT(held.synchronize(), IsOk());
}

} // namespace
} // namespace troupe
