// What a hang is told by and what becomes of the clients (K7): whoever catches what, wherever it
// waits, the report says so, and no loop goes on for ever.

#include <gtest/gtest.h>

#include <optional>
#include <stdexcept>
#include <string>

#include "tests/support/status_matchers.hpp"
#include "troupe/exploring.hpp"
#include "troupe/testing.hpp"
#include "troupe/troupe.hpp"

namespace troupe {
namespace {

using testing::client;
using testing::simulation_options;
using testing::simulation_report;
using testing::stage;
using testing::try_simulate;
using namespace std::chrono_literals;

context context_of(stage& play) {
  return play.runtime().device(0).value().create_context().value();
}

// A stream that waits for a signal that nobody raises.
stream stuck_stream(stage& play, const context& ctx) {
  auto made = ctx.create_stream().value();
  made.wait(play.runtime().create_signal()).or_throw();
  return made;
}

bool says(const simulation_report& report, const std::string& what) {
  return report.hang && report.hang->find(what) != std::string::npos;
}

std::string thrown_text(const simulation_report& report) {
  if (!report.thrown) return {};
  try {
    std::rethrow_exception(report.thrown);
  } catch (const std::exception& e) {
    return e.what();
  }
}

// -- whoever catches it ---------------------------------------------------------

TEST(hangs, K7_one_that_a_client_catches_is_reported) {
  const auto body = [](stage& play) {
    const auto ctx = context_of(play);
    auto s = stuck_stream(play, ctx);
    auto server = play.start_client("server", [s] {
      try {
        s.synchronize().or_throw();
      } catch (const std::exception&) {
        (void)s.abort();
      }
    });
    server.join();
  };
  const auto report = try_simulate({}, body);
  EXPECT_TRUE(report.hang);
  EXPECT_TRUE(report.record.hung);
  EXPECT_FALSE(report.thrown);
  EXPECT_TRUE(testing::explore({}, body).failure) << "exploration sees it too";
}

TEST(hangs, K7_one_that_became_another_exception_is_reported_beside_it) {
  const auto body = [](stage& play) {
    const auto ctx = context_of(play);
    const auto s = stuck_stream(play, ctx);
    if (!s.synchronize().ok()) throw std::runtime_error("the request failed");
  };
  const auto report = testing::simulate({}, body);
  EXPECT_TRUE(report.hang);
  EXPECT_EQ(thrown_text(report), "the request failed");
}

TEST(hangs, K7_what_a_client_threw_that_others_waited_for_is_kept) {
  const auto report = try_simulate({}, [](stage& play) {
    const auto ctx = context_of(play);
    const auto s = stuck_stream(play, ctx);
    (void)play.start_client("worker", [] { throw std::runtime_error("a real mistake"); });
    s.synchronize().or_throw();
  });
  EXPECT_TRUE(says(report, "client 'worker' has ended with an exception: a real mistake"));
  EXPECT_EQ(thrown_text(report), "a real mistake");
}

TEST(hangs, K7_loops_that_try_again_end) {
  const auto report = try_simulate({}, [](stage& play) {
    const auto ctx = context_of(play);
    const auto s = stuck_stream(play, ctx);
    for (;;) {
      try {
        s.synchronize().or_throw();
      } catch (const std::exception&) {
      }
    }
  });
  EXPECT_TRUE(says(report, "in stream::synchronize waits for stream")) << report.hang.value_or("");
  EXPECT_FALSE(report.thrown);
}

TEST(hangs, K7_clients_that_try_again_under_a_limit_of_steps_end) {
  simulation_options options;
  options.steps_max = 2'000;
  const auto report = try_simulate(options, [](stage& play) {
    const auto ctx = context_of(play);
    (void)play.start_client("eager", [ctx] {
      auto s = ctx.create_stream().value();
      for (;;) {
        (void)s.launch("k", [] {});
        (void)s.synchronize();
      }
    });
  });
  EXPECT_TRUE(says(report, "the run goes on after 2000 steps"));
  EXPECT_EQ(report.steps, 2'000U);
}

TEST(hangs, K7_whoever_catches_everything_and_goes_on_ends_the_process_with_the_report) {
  const auto obstinate = [] {
    (void)try_simulate({}, [](stage& play) {
      const auto ctx = context_of(play);
      const auto s = stuck_stream(play, ctx);
      for (;;) {
        try {
          s.synchronize().or_throw();
        } catch (...) {
        }
      }
    });
  };
  EXPECT_DEATH(obstinate(), "goes on and on though the run hangs: nothing can happen any more");
}

// -- where nothing may be thrown --------------------------------------------------

TEST(hangs, K7_waits_in_destructors_return_a_status) {
  status seen;
  const auto report = try_simulate({}, [&seen](stage& play) {
    struct guard {
      stream held;
      status& seen;
      ~guard() { seen = held.synchronize(); }
    };
    const auto ctx = context_of(play);
    const guard last{stuck_stream(play, ctx), seen};
    const guard first{stuck_stream(play, ctx), seen};
    stuck_stream(play, ctx).synchronize().or_throw();
  });
  EXPECT_TRUE(report.hang);
  EXPECT_THAT(seen, HasCode(code::wait_timeout));
}

TEST(hangs, K7_a_destructor_may_be_let_go_many_times_while_an_exception_is_on_its_way) {
  const auto report = try_simulate({}, [](stage& play) {
    struct obstinate {
      stream held;
      ~obstinate() {
        for (int i = 0; i < 150; ++i) (void)held.synchronize();
      }
    };
    const auto ctx = context_of(play);
    const obstinate last{stuck_stream(play, ctx)};
    throw std::runtime_error("thrown before");
  });
  EXPECT_TRUE(report.hang);
  EXPECT_EQ(thrown_text(report), "thrown before");
}

TEST(hangs, K7_a_copy_that_is_let_go_leaves_its_memory_alone) {
  const auto report = try_simulate({}, [](stage& play) {
    const auto ctx = context_of(play);
    auto data = ctx.allocate<int>(4, initial::cleared).value();
    const auto go = play.runtime().create_signal();
    auto s = ctx.create_stream().value();
    s.wait(go).or_throw();
    std::vector<int> out(4, 7);
    EXPECT_THAT(s.copy(std::span(out), data), HasCode(code::wait_timeout));
    go.raise();
    (void)s.synchronize();
    EXPECT_EQ(out, std::vector<int>(4, 7));
  });
  EXPECT_TRUE(report.hang);
}

// -- looks ----------------------------------------------------------------------

TEST(hangs, L9_loops_over_what_only_looks_let_things_happen) {
  const auto report = try_simulate({}, [](stage& play) {
    const auto ctx = context_of(play);
    const auto device = play.runtime().device(0).value();
    auto s = ctx.create_stream().value();
    const auto told = play.runtime().create_signal();
    s.launch("k", [] {}).or_throw();
    while (s.counters().completed < 1) {}
    s.launch("k", [] {}).or_throw();
    while (device.counters().compute.commands < 2) {}
    s.callback("tell", [told] { told.raise(); }).or_throw();
    while (!told.raised()) {}
    s.set_failure_mode(failure_mode::stop).or_throw();
    s.launch("fails", [] { throw std::runtime_error("no"); }).or_throw();
    while (s.failures().empty()) {}
    while (ctx.health().ok()) {}
  });
  EXPECT_FALSE(report.hang) << *report.hang;
}

TEST(hangs, L9_loops_over_what_never_comes_are_hangs) {
  const auto looking = [](const std::function<bool(const stream&, const signal&)>& look) {
    return try_simulate({}, [look](stage& play) {
      const auto ctx = context_of(play);
      const auto s = stuck_stream(play, ctx);
      const auto never = play.runtime().create_signal();
      while (!look(s, never)) {}
    });
  };
  const auto counters = looking([](auto& s, auto&) { return s.counters().completed > 0; });
  EXPECT_TRUE(says(counters, "client 'main' in stream::counters"));
  EXPECT_TRUE(says(counters, "nothing can happen any more")) << "not the limit of steps";
  const auto raised = looking([](auto&, auto& never) { return never.raised(); });
  EXPECT_TRUE(says(raised, "client 'main' in signal::raised"));
  EXPECT_TRUE(looking([](auto& s, auto&) { return !s.failures().empty(); }).hang);
}

TEST(hangs, L9_a_few_looks_in_a_row_take_no_time) {
  simulation_options options;
  options.costs.kernels["long"] = 10'000'000;
  const auto report = try_simulate(options, [](stage& play) {
    const auto ctx = context_of(play);
    auto s = ctx.create_stream().value();
    s.launch("long", [] {}).or_throw();
    for (int i = 0; i < 50; ++i) EXPECT_FALSE(s.query().value());
    EXPECT_EQ(play.elapsed(), 0ms);
    while (!s.query().value()) {}
    EXPECT_EQ(play.elapsed(), 10ms);
  });
  EXPECT_FALSE(report.hang) << *report.hang;
}

TEST(hangs, L9_a_callback_that_looks_does_not_end_the_wait_of_its_thread) {
  simulation_options options;
  options.costs.kernels["long"] = 10'000'000;
  const auto report = try_simulate(options, [](stage& play) {
    const auto ctx = context_of(play);
    auto s = ctx.create_stream().value();
    auto other = ctx.create_stream().value();
    auto mark = ctx.create_event().value();
    other.launch("long", [] {}).or_throw();
    other.record(mark).or_throw();
    s.callback("looks", [mark] {
      while (!mark.query().value()) {}
    }).or_throw();
    s.launch("long", [] {}).or_throw();
    EXPECT_THAT(s.synchronize(), IsOk());
    EXPECT_EQ(play.elapsed(), 20ms);
  });
  EXPECT_FALSE(report.hang) << *report.hang;
}

TEST(hangs, L9_a_callback_may_look_on_the_thread_of_a_client_that_has_ended) {
  const auto report = try_simulate({}, [](stage& play) {
    const auto ctx = context_of(play);
    auto s = ctx.create_stream().value();
    const auto told = play.runtime().create_signal();
    s.callback("looks", [told] {
      while (!told.raised()) {}
    }).or_throw();
    auto teller = play.start_client("teller", [told] { told.raise(); });
    EXPECT_THAT(s.synchronize(), IsOk());
    teller.join();
  });
  EXPECT_FALSE(report.hang) << *report.hang;
}

// -- what the report says ---------------------------------------------------------

TEST(hangs, K7_a_task_that_never_ends_is_named) {
  simulation_options options;
  options.costs.kernels["stuck"] = cost_model::never;
  const auto report = try_simulate(options, [](stage& play) {
    const auto ctx = context_of(play);
    auto s = ctx.create_stream().value();
    s.launch("first", [] {}).or_throw();
    s.launch("stuck", [] {}).or_throw();
    const auto late = s.synchronize(1s);
    EXPECT_THAT(late, HasCode(code::stream_sync_timeout));
    EXPECT_EQ(late.record()->task_name, "stuck");
    s.synchronize().or_throw();
  });
  EXPECT_TRUE(says(report, "task 'stuck' runs ('stuck', submitted at "))
      << report.hang.value_or("");
}

TEST(hangs, K3_the_fault_that_holds_a_stream_up_is_named) {
  simulation_options options;
  auto& entry = options.faults.emplace().entries.emplace_back();
  entry.name = "a stuck engine";
  entry.pick.point = fault_point::execute;
  entry.action = fault_action::never_complete();
  const auto report = try_simulate(options, [](stage& play) {
    const auto ctx = context_of(play);
    auto s = ctx.create_stream().value();
    s.launch("k", [] {}).or_throw();
    s.synchronize().or_throw();
  });
  EXPECT_TRUE(says(report, "; held up by the fault 'a stuck engine'")) << report.hang.value_or("");
}

TEST(hangs, K7_what_a_stream_waits_for_is_named_with_the_place_of_its_submission) {
  const auto report = try_simulate({}, [](stage& play) {
    const auto ctx = context_of(play);
    auto a = stuck_stream(play, ctx);
    auto b = ctx.create_stream().value();
    auto mark = ctx.create_event().value();
    a.record(mark).or_throw();
    b.wait(mark).or_throw();
    auto raiser = play.start_client("raiser", [mark] { mark.synchronize().or_throw(); });
    b.synchronize().or_throw();
  });
  EXPECT_TRUE(says(report, "number 2 is ('record', submitted at ")) << report.hang.value_or("");
  EXPECT_TRUE(says(report, "hangs_test.cpp:"));
  EXPECT_TRUE(says(report, "client 'raiser' in event::synchronize waits for stream"));
}

TEST(hangs, K7_clients_that_join_each_other_are_a_circle) {
  const auto report = try_simulate({}, [](stage& play) {
    std::optional<client> a;
    std::optional<client> b;
    a = play.start_client("a", [&] {
      play.wait_until([&b] { return b.has_value(); });
      b->join();
    });
    b = play.start_client("b", [&a] { a->join(); });
    a->join();
  });
  EXPECT_TRUE(says(report, "in a circle: client 'a' waits for the end of client 'b' waits for the "
                           "end of client 'a'"))
      << report.hang.value_or("");
}

// A task may not wait, but it can look for what comes after it, or never comes.
TEST(hangs, K7_what_a_task_looks_for_is_named_and_the_circle_of_streams_that_it_closes) {
  const auto report = try_simulate({}, [](stage& play) {
    const auto ctx = context_of(play);
    auto a = ctx.create_stream().value();
    auto b = ctx.create_stream().value();
    auto of_a = ctx.create_event().value();
    auto of_b = ctx.create_event().value();
    const auto go = play.runtime().create_signal();
    a.wait(go).or_throw();
    a.callback("polls", [of_b] {
      while (!of_b.query().value()) {}
    }).or_throw();
    a.record(of_a).or_throw();
    b.wait(of_a).or_throw();
    b.record(of_b).or_throw();
    go.raise();
    a.synchronize().or_throw();
  });
  EXPECT_TRUE(says(report, "host callback 'polls' of stream 3, on the thread of client 'main', in "
                           "event::query looks in vain for stream 4 to reach number 2"))
      << report.hang.value_or("");
  EXPECT_TRUE(says(report, "client 'main' in stream::synchronize waits for stream 3 to reach"));
  EXPECT_TRUE(says(report, "in a circle: stream 3 waits for stream 4 waits for stream 3"));
}

TEST(hangs, K7_a_kernel_that_looks_for_a_signal_that_nobody_raises_is_named) {
  const auto report = try_simulate({}, [](stage& play) {
    const auto ctx = context_of(play);
    auto s = ctx.create_stream().value();
    const auto never = play.runtime().create_signal();
    s.launch("spins", [never] {
      while (!never.raised()) {}
    }).or_throw();
    s.synchronize().or_throw();
  });
  EXPECT_TRUE(says(report, "kernel 'spins' of stream 3, on the thread of client 'main', in "
                           "signal::raised looks in vain for signal "))
      << report.hang.value_or("");
  EXPECT_FALSE(says(report, "in a circle"));
}

TEST(hangs, K7_a_look_of_a_client_says_what_it_is_for) {
  const auto report = try_simulate({}, [](stage& play) {
    const auto ctx = context_of(play);
    const auto s = stuck_stream(play, ctx);
    while (!s.query().value()) {}
  });
  EXPECT_TRUE(says(report, "client 'main' in stream::query looks in vain for stream 3 to reach "
                           "number 1"))
      << report.hang.value_or("");
}

TEST(hangs, K7_further_runtimes_are_told_of) {
  const auto report = try_simulate({}, [](stage& play) {
    const auto more = play.make_runtime(runtime_options{});
    const auto ctx = more.device(0).value().create_context().value();
    auto s = ctx.create_stream().value();
    s.wait(more.create_signal()).or_throw();
    s.synchronize().or_throw();
  });
  EXPECT_TRUE(says(report, "1 task left, at task 1 it waits for signal"));
}

TEST(hangs, L9_steps_max_is_the_number_of_steps) {
  for (const std::uint64_t limit : {0U, 5U}) {
    simulation_options options;
    options.steps_max = limit;
    const auto report = try_simulate(options, [](stage& play) {
      const auto ctx = context_of(play);
      auto s = ctx.create_stream().value();
      s.launch("k", [] {}).or_throw();
      s.synchronize().or_throw();
    });
    EXPECT_TRUE(says(report, "the run goes on after " + std::to_string(limit) + " steps"));
    EXPECT_EQ(report.steps, limit);
  }
}

TEST(hangs, L9_a_run_of_as_many_steps_as_it_may_take_passes_and_with_one_less_it_hangs) {
  const auto run = [](std::uint64_t limit) {
    simulation_options options;
    options.steps_max = limit;
    return try_simulate(options, [](stage& play) {
      const auto ctx = context_of(play);
      auto s = ctx.create_stream().value();
      s.launch("k", [] {}).or_throw();
      s.synchronize().or_throw();
    });
  };
  const auto steps = run(1'000'000).steps;
  EXPECT_FALSE(run(steps).hang);
  EXPECT_TRUE(run(steps - 1).hang);
}

TEST(hangs, K7_a_client_that_had_not_begun_when_the_steps_were_used_up_does_not_begin) {
  bool ran = false;
  simulation_options options;
  options.steps_max = 0;
  const auto report = try_simulate(options, [&ran](stage& play) {
    (void)play.start_client("late", [&ran] { ran = true; });
  });
  EXPECT_TRUE(says(report, "client 'late' has not begun")) << report.hang.value_or("");
  EXPECT_FALSE(ran);
}

} // namespace
} // namespace troupe
