#include <gtest/gtest.h>

#include <atomic>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "tests/support/status_matchers.hpp"
#include "troupe/testing.hpp"
#include "troupe/troupe.hpp"

namespace troupe {
namespace {

using testing::simulate;
using testing::simulation_options;
using testing::stage;
using namespace std::chrono_literals;

simulation_options with_cost(std::string kernel, std::int64_t ns) {
  simulation_options made;
  made.costs.kernels[std::move(kernel)] = ns;
  return made;
}

TEST(simulated_runs, a_program_of_the_facade_runs_as_it_is) {
  std::vector<int> out(64, 0);
  const auto report = simulate({}, [&](stage& play) {
    auto ctx = play.runtime().device(0).value().create_context().value();
    auto s = ctx.create_stream().value();
    auto data = ctx.allocate<int>(out.size()).value();
    const std::vector<int> in(out.size(), 20);
    s.copy(data, std::span(in)).or_throw();
    s.launch("add", [](std::span<int> all) { for (auto& each : all) each += 1; }, data).or_throw();
    s.copy(std::span(out), data).or_throw();
    s.synchronize().or_throw();
  });
  EXPECT_FALSE(report.hang) << *report.hang;
  EXPECT_EQ(out, std::vector<int>(64, 21));
  EXPECT_GT(report.elapsed, 0ns);
}

TEST(simulated_runs, time_is_what_the_model_says_to_the_nanosecond) {
  auto options = with_cost("work", 1'000'000);
  const auto report = simulate(options, [&](stage& play) {
    auto ctx = play.runtime().device(0).value().create_context().value();
    auto s = ctx.create_stream().value();
    auto before = ctx.create_event().value();
    auto after = ctx.create_event().value();
    s.record(before).or_throw();
    for (int i = 0; i < 3; ++i) s.launch("work", [] {}).or_throw();
    s.record(after).or_throw();
    s.synchronize().or_throw();
    EXPECT_EQ(play.elapsed(), 3ms);
    EXPECT_DOUBLE_EQ(after.elapsed_since(before).value().count(), 3.0);
  });
  EXPECT_FALSE(report.hang);
  EXPECT_EQ(report.elapsed, 3ms);
}

TEST(simulated_runs, two_streams_work_side_by_side) {
  const auto report = simulate(with_cost("work", 1'000'000), [](stage& play) {
    auto ctx = play.runtime().device(0).value().create_context().value();
    auto a = ctx.create_stream().value();
    auto b = ctx.create_stream().value();
    for (auto* each : {&a, &b}) {
      for (int i = 0; i < 5; ++i) each->launch("work", [] {}).or_throw();
    }
    ctx.synchronize().or_throw();
  });
  EXPECT_EQ(report.elapsed, 5ms);
}

TEST(simulated_runs, L10_clients_take_turns_in_an_order_that_the_seed_decides) {
  const auto run = [](std::uint64_t seed, std::string& seen) {
    simulation_options options;
    options.seed = seed;
    options.choice = testing::order::explore;
    options.expected_steps = 100;
    return simulate(options, [&](stage& play) {
      auto ctx = play.runtime().device(0).value().create_context().value();
      auto s = ctx.create_stream().value();
      std::vector<testing::client> all;
      for (const char name : {'a', 'b', 'c'}) {
        all.push_back(play.start_client(std::string(1, name), [&seen, &s, name] {
          for (int i = 0; i < 3; ++i) {
            s.launch("mark", [&seen, name] { seen += name; }).or_throw();
          }
        }));
      }
      for (auto& each : all) each.join();
      s.synchronize().or_throw();
    });
  };
  std::set<std::string> orders;
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    std::string first, second;
    const auto one = run(seed, first);
    const auto two = run(seed, second);
    ASSERT_FALSE(one.hang) << *one.hang;
    EXPECT_EQ(first, second) << "seed " << seed;
    EXPECT_EQ(one.order_hash, two.order_hash) << "seed " << seed;
    EXPECT_EQ(first.size(), 9U);
    orders.insert(first);
  }
  EXPECT_GT(orders.size(), 10U);
}

TEST(simulated_runs, K7_a_wait_without_end_is_reported_at_once_and_says_what_is_missing) {
  const auto report = simulate({}, [](stage& play) {
    auto ctx = play.runtime().device(0).value().create_context().value();
    auto a = ctx.create_stream().value();
    auto b = ctx.create_stream().value();
    auto never = play.runtime().create_signal();
    a.wait(never).or_throw();
    b.launch("after", [] {}).or_throw();
    b.synchronize().or_throw();
    a.synchronize().or_throw();
    ADD_FAILURE() << "the wait has no end";
  });
  ASSERT_TRUE(report.hang);
  EXPECT_NE(report.hang->find("client 'main'"), std::string::npos) << *report.hang;
  EXPECT_NE(report.hang->find("of context 1, device 0: 1 task left, at task 1 it waits for signal"),
            std::string::npos)
      << *report.hang;
}

TEST(simulated_runs, a_deadline_ends_a_wait_in_virtual_time) {
  const auto report = simulate(with_cost("long", 5'000'000'000), [](stage& play) {
    auto ctx = play.runtime().device(0).value().create_context().value();
    auto s = ctx.create_stream().value();
    s.launch("long", [] {}).or_throw();
    EXPECT_THAT(s.synchronize(2s), HasCode(code::stream_sync_timeout));
    EXPECT_EQ(play.elapsed(), 2s);
    EXPECT_THAT(s.synchronize(), IsOk());
  });
  EXPECT_EQ(report.elapsed, 5s);
}

TEST(simulated_runs, G1_a_task_that_never_completes_is_aborted_within_its_bound) {
  auto options = with_cost("stuck", cost_model::never);
  options.runtime.stop_bound_ms = 300;
  const auto report = simulate(options, [](stage& play) {
    auto ctx = play.runtime().device(0).value().create_context().value();
    auto s = ctx.create_stream().value();
    s.launch("stuck", [] {}).or_throw();
    auto waiting = play.start_client("waiting", [&s] {
      EXPECT_THAT(s.synchronize(), HasCode(code::stream_abort));
    });
    play.pass_time(1s);
    EXPECT_THAT(s.abort(), IsOk());
    waiting.join();
    EXPECT_EQ(play.elapsed(), 1s);
    s.launch("next", [] {}).or_throw();
    EXPECT_THAT(s.synchronize(), IsOk());
    EXPECT_LE(play.elapsed(), 1301ms);
  });
  EXPECT_FALSE(report.hang);
}

TEST(simulated_runs, a_poll_that_can_never_come_true_is_a_hang) {
  const auto report = simulate({}, [](stage& play) {
    auto ctx = play.runtime().device(0).value().create_context().value();
    auto s = ctx.create_stream().value();
    s.wait(play.runtime().create_signal()).or_throw();
    while (!s.query().value()) {
    }
  });
  EXPECT_TRUE(report.hang);
}

TEST(simulated_runs, a_look_at_what_waits_for_the_looker_is_no_hang) {
  const auto report = simulate({}, [](stage& play) {
    auto ctx = play.runtime().device(0).value().create_context().value();
    auto s = ctx.create_stream().value();
    const auto go = play.runtime().create_signal();
    s.wait(go).or_throw();
    for (int i = 0; i < 100; ++i) EXPECT_FALSE(s.query().value());
    go.raise();
    EXPECT_THAT(s.synchronize(), IsOk());
    EXPECT_TRUE(s.query().value());
  });
  EXPECT_FALSE(report.hang) << *report.hang;
}

TEST(simulated_runs, a_poll_sees_the_work_end) {
  const auto report = simulate(with_cost("work", 1'000'000), [](stage& play) {
    auto ctx = play.runtime().device(0).value().create_context().value();
    auto s = ctx.create_stream().value();
    s.launch("work", [] {}).or_throw();
    while (!s.query().value()) {
    }
    EXPECT_EQ(play.elapsed(), 1ms);
  });
  EXPECT_FALSE(report.hang);
}

TEST(simulated_runs, ids_do_not_depend_on_what_the_process_did_before) {
  const auto ids = [] {
    std::vector<std::uint64_t> seen;
    const auto report = simulate({}, [&](stage& play) {
      auto ctx = play.runtime().device(0).value().create_context().value();
      seen = {ctx.id(), ctx.create_stream().value().id()};
    });
    EXPECT_FALSE(report.hang);
    return seen;
  };
  const auto first = ids();
  runtime live(runtime_options{});
  const auto elsewhere = live.device(0).value().create_context().value();
  EXPECT_EQ(ids(), first);
}

TEST(simulated_runs, E2_pool_block_used_on_another_stream_is_not_reused_before_that_has_run) {
  const auto report = simulate(with_cost("long", 1'000'000), [](stage& play) {
    auto ctx = play.runtime().device(0).value().create_context().value();
    auto mine = ctx.create_stream().value();
    auto other = ctx.create_stream().value();
    const auto p = ctx.create_pool().value();
    const char* address = nullptr;
    {
      const auto block = p.allocate<char>(mine, 1000).value();
      address = block.data();
      other.launch("long", [](std::span<char>) {}, block).or_throw();
    }
    EXPECT_NE(p.allocate<char>(mine, 1000).value().data(), address);
    other.synchronize().or_throw();
    EXPECT_EQ(play.elapsed(), 1ms);
    const auto one = p.allocate<char>(mine, 1000).value();
    const auto two = p.allocate<char>(mine, 1000).value();
    EXPECT_TRUE(one.data() == address || two.data() == address);
  });
  EXPECT_FALSE(report.hang);
}

} // namespace
} // namespace troupe
