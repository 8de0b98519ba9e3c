// Calls that are refused, on handles that are empty, stale or of elsewhere: they have no effect and
// say what is wrong. A5, A6, B2, B4, C7, F5.

#include <atomic>
#include <chrono>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tests/behaviour/side_thread.hpp"

namespace troupe {
namespace {

using namespace std::chrono_literals;

class refusals : public stage_test {
protected:
  explicit refusals(runtime_options options = patient_options()) : stage_test(std::move(options)) {}

  stream other = ctx.create_stream().value();
  signal hold = rt.create_signal();
};

// -- records --------------------------------------------------------------------

TEST_F(refusals, A6_a_record_refused_by_a_destroyed_stream_leaves_the_last_one_in_force) {
  const auto begin = ctx.create_event().value();
  const auto mark = ctx.create_event().value();
  ASSERT_THAT(s.record(begin), IsOk());
  ASSERT_THAT(s.record(mark), IsOk());
  const auto before = mark.elapsed_since(begin).value();
  ASSERT_THAT(other.destroy(), IsOk());
  for (int i = 0; i < 3; ++i) {
    EXPECT_THAT(other.record(mark), HasCode(code::invalid_handle));
    ASSERT_THAT(mark.elapsed_since(begin), IsOk());
    EXPECT_EQ(mark.elapsed_since(begin).value(), before);
    EXPECT_THAT(s.wait(mark), IsOk());
  }
  ASSERT_THAT(s.record(mark), IsOk());
  EXPECT_GE(mark.elapsed_since(begin).value(), before);
}

class hasty_refusals : public refusals {
protected:
  hasty_refusals() : refusals([] {
    auto made = patient_options();
    made.submit_timeout_ms = 0;
    return made;
  }()) {}
};

TEST_F(hasty_refusals, A6_a_record_refused_by_a_full_queue_leaves_the_last_one_in_force) {
  auto narrow = ctx.create_stream({.priority = 4, .queue_depth = 2}).value();
  const auto mark = ctx.create_event().value();
  ASSERT_THAT(narrow.wait(hold), IsOk());
  ASSERT_THAT(narrow.record(mark), IsOk());
  for (int i = 0; i < 3; ++i) {
    EXPECT_THAT(narrow.record(mark), HasCode(code::queue_full));
    EXPECT_FALSE(mark.query().value());
  }
  std::atomic<bool> ran = false;
  ASSERT_THAT(other.wait(mark), IsOk());
  ASSERT_THAT(other.launch("behind", [&] { ran = true; }), IsOk());
  EXPECT_FALSE(other.query().value());
  EXPECT_FALSE(ran);
  hold.raise();
  EXPECT_THAT(other.synchronize(), IsOk());
  EXPECT_TRUE(ran);
  EXPECT_THAT(mark.elapsed_since(mark), IsOk());
}

TEST_F(refusals, B2_others_use_an_event_while_its_record_waits_for_room) {
  auto narrow = ctx.create_stream({.priority = 4, .queue_depth = 2}).value();
  const auto mark = ctx.create_event().value();
  ASSERT_THAT(narrow.wait(hold), IsOk());
  ASSERT_THAT(narrow.launch("fills the queue", [] {}), IsOk());
  side_thread recording([&] { return narrow.record(mark); });
  ASSERT_TRUE(recording.waits_for(narrow));
  EXPECT_TRUE(mark.query().value()) << "never recorded yet";
  EXPECT_THAT(mark.synchronize(), IsOk());
  EXPECT_THAT(other.wait(mark), IsOk());
  EXPECT_FALSE(recording.ended());
  hold.raise();
  EXPECT_THAT(recording.join(), IsOk()) << "nobody waited for it to give up";
  EXPECT_THAT(mark.synchronize(), IsOk());
  EXPECT_THAT(mark.elapsed_since(mark), IsOk());
}

TEST_F(refusals, C7_an_event_is_destroyed_at_once_while_its_record_waits_for_room) {
  auto narrow = ctx.create_stream({.priority = 4, .queue_depth = 2}).value();
  auto mark = ctx.create_event().value();
  ASSERT_THAT(narrow.wait(hold), IsOk());
  ASSERT_THAT(narrow.launch("fills the queue", [] {}), IsOk());
  side_thread recording([&, copy = mark] { return narrow.record(copy); });
  ASSERT_TRUE(recording.waits_for(narrow));
  EXPECT_THAT(mark.destroy(), IsOk());
  EXPECT_FALSE(recording.ended());
  hold.raise();
  EXPECT_THAT(recording.join(), IsOk()) << "it came first";
  EXPECT_THAT(narrow.synchronize(), IsOk());
  EXPECT_THAT(mark.query(), HasCode(code::invalid_handle));
}

TEST_F(refusals, A5_an_event_of_a_destroyed_context_is_refused_like_a_destroyed_one) {
  auto doomed = dev.create_context().value();
  auto mark = doomed.create_event().value();
  ASSERT_THAT(s.wait(hold), IsOk());
  ASSERT_THAT(s.record(mark), IsOk()) << "a stream of another context of the device";
  ASSERT_THAT(other.wait(mark), IsOk());
  ASSERT_THAT(doomed.destroy(), IsOk());
  EXPECT_THAT(s.record(mark), HasCode(code::invalid_handle));
  EXPECT_THAT(other.wait(mark), HasCode(code::invalid_handle));
  EXPECT_THAT(mark.query(), SaysThat("context " + std::to_string(doomed.id())));
  EXPECT_THAT(mark.synchronize(), HasCode(code::invalid_handle));
  EXPECT_THAT(mark.elapsed_since(mark), HasCode(code::invalid_handle));
  hold.raise();
  EXPECT_THAT(other.synchronize(), IsOk()) << "waits submitted before still complete";
  EXPECT_THAT(mark.destroy(), IsOk());
}

// -- threads that end --------------------------------------------------------------

struct late_caller {
  late_caller(code& first, code& second, runtime& r) : answer(first), after_bind(second), rt(r) {}
  ~late_caller() {
    answer = current::context().code();
    (void)rt.set_device(0);
    after_bind = current::context().code();
  }
  late_caller(const late_caller&) = delete;
  late_caller& operator=(const late_caller&) = delete;

  code& answer;
  code& after_bind;
  runtime& rt;
};

TEST_F(refusals, A5_a_thread_that_ends_has_no_current_context_any_more) {
  LIVE_ONLY("it is about the end of a real thread");
  ASSERT_THAT(rt.set_device(0), IsOk()); // holds a use, as the ending threads' are not given back
  for (int i = 0; i < 20; ++i) {
    code answer = code::success;
    code after_bind = code::success;
    test_thread([&] {
      // Made before the thread is bound, so ended after its binding.
      thread_local std::optional<late_caller> late;
      late.emplace(answer, after_bind, rt);
      EXPECT_THAT(rt.set_device(0), IsOk());
    }).join();
    ASSERT_EQ(answer, code::context_null);
    ASSERT_EQ(after_bind, code::context_null);
  }
  current::unbind();
}

// -- empty handles -----------------------------------------------------------------

TEST_F(refusals, F5_a_runtime_that_was_moved_from_refuses_every_call) {
  auto source = make_runtime(patient_options(1));
  const runtime target(std::move(source));
  EXPECT_EQ(source.device_count(), 0U); // NOLINT(bugprone-use-after-move)
  EXPECT_TRUE(source.options().devices.empty());
  EXPECT_THAT(source.device(0), HasCode(code::uninitialized));
  EXPECT_THAT(source.profile(0), HasCode(code::uninitialized));
  EXPECT_THAT(source.least_loaded(), HasCode(code::uninitialized));
  EXPECT_THAT(source.set_device(0), HasCode(code::uninitialized));
  EXPECT_THAT(source.reset_device(0), HasCode(code::uninitialized));
  EXPECT_THAT(source.allocate_host<int>(1), HasCode(code::uninitialized));
  EXPECT_THAT(source.host_memory(), HasCode(code::uninitialized));
  EXPECT_THAT(source.register_kernel("k", [] {}), HasCode(code::uninitialized));
  EXPECT_TRUE(source.diagnostics().empty());
  EXPECT_FALSE(source.create_signal().raised());
  EXPECT_THAT(source.shutdown(), IsOk());
  EXPECT_THAT(target.device(0), IsOk());
}

TEST_F(refusals, F5_a_device_that_was_moved_from_is_an_empty_handle) {
  auto source = rt.device(0).value();
  const auto target = std::move(source);
  EXPECT_THAT(source.create_context(), HasCode(code::invalid_handle)); // NOLINT
  EXPECT_THAT(source.memory(), HasCode(code::invalid_handle));
  EXPECT_EQ(source.index(), 0U);
  EXPECT_EQ(source.profile().memory_bytes, 0U);
  EXPECT_EQ(source.compute().cores, 0U);
  EXPECT_EQ(source.counters().streams, 0U);
  EXPECT_THAT(target.memory(), IsOk());
}

TEST_F(refusals, F5_an_empty_signal_can_be_raised_in_vain) {
  const signal none;
  none.raise();
  EXPECT_FALSE(none.raised());
  EXPECT_THAT(s.wait(none), HasCode(code::invalid_handle));
}

// -- what refusals and reports say ----------------------------------------------------

TEST_F(refusals, A6_a_handle_of_another_runtime_is_called_so) {
  auto elsewhere = make_runtime(patient_options(1));
  auto there = elsewhere.device(0).value().create_context().value();
  const auto mark = there.create_event().value();
  const auto recorded = s.record(mark);
  EXPECT_THAT(recorded, HasCode(code::stream_context));
  EXPECT_THAT(recorded, SaysThat("another runtime"));
  EXPECT_THAT(s.wait(mark), SaysThat("another runtime"));
  ASSERT_THAT(there.bind(), IsOk());
  const auto launched = s.launch("misplaced", [] {});
  EXPECT_THAT(launched, HasCode(code::stream_context));
  EXPECT_THAT(launched, SaysThat("another runtime"));
  current::unbind();
}

TEST_F(refusals, B4_a_report_calls_a_signal_a_signal_and_counts_in_words) {
  ASSERT_THAT(s.wait(hold), IsOk());
  const auto report = s.synchronize(1ms);
  const auto name = "signal " + std::to_string(hold.line()->id());
  EXPECT_THAT(report, SaysThat("waits for " + name + " to be raised"));
  EXPECT_THAT(report, SaysThat("1 task left"));
  ASSERT_THAT(s.launch("behind", [] {}), IsOk());
  EXPECT_THAT(s.synchronize(1ms), SaysThat("2 tasks left"));
  ASSERT_THAT(other.wait(hold, 1ms), IsOk());
  EXPECT_THAT(other.synchronize(), SaysThat(name + " was not raised within 1 ms"));
  hold.raise();
}

TEST_F(refusals, D3_a_kind_that_does_not_exist_is_named_by_its_number) {
  auto memory = ctx.allocate<int>(4).value();
  std::vector<int> host(4);
  auto request = make_copy_request(memory, host, call_site::here());
  request.kind = static_cast<copy_kind>(77);
  const auto outcome = s.copy_raw(request);
  EXPECT_THAT(outcome, HasCode(code::invalid_parameter));
  EXPECT_THAT(outcome, SaysThat("77"));
}

TEST_F(refusals, F6_a_launch_by_name_after_shutdown_says_shutdown) {
  ASSERT_THAT(rt.shutdown(), IsOk());
  EXPECT_THAT(s.launch_by_name("nobody's"), HasCode(code::uninitialized));
  EXPECT_THAT(stream().launch_by_name("nobody's"), HasCode(code::invalid_handle));
}

} // namespace
} // namespace troupe
