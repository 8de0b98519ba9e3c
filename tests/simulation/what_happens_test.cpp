// What a simulated run is made of: which work and which timer ends next, what time that takes, how
// the trace calls it, and what becomes of what clients throw.

#include <algorithm>
#include <map>
#include <set>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/simulated.hpp"
#include "tests/support/status_matchers.hpp"
#include "troupe/testing.hpp"
#include "troupe/troupe.hpp"

namespace troupe {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using testing::simulate;
using testing::simulation_options;
using testing::stage;
using namespace std::chrono_literals;

simulation_options explored(std::uint64_t seed, testing::work_end ends) {
  simulation_options made;
  made.seed = seed;
  made.choice = testing::order::explore;
  made.ends = ends;
  made.expected_steps = 40;
  made.costs.kernels["short"] = 1'000'000;
  made.costs.kernels["long"] = 2'000'000;
  return made;
}

// The order in which a short and a long kernel on two streams end.
std::string order_of_ends(const simulation_options& options, std::chrono::nanoseconds& took) {
  std::string order;
  const auto report = simulate(options, [&](stage& play) {
    auto ctx = make_context(play);
    auto a = ctx.create_stream().value();
    auto b = ctx.create_stream().value();
    const auto go = play.runtime().create_signal();
    a.wait(go).or_throw();
    b.wait(go).or_throw();
    a.launch("long", [&order] { order += 'l'; }).or_throw();
    b.launch("short", [&order] { order += 's'; }).or_throw();
    go.raise();
    ctx.synchronize().or_throw();
    took = play.elapsed();
  });
  EXPECT_FALSE(report.hang);
  return order;
}

TEST(what_happens, work_ends_when_it_is_due_or_in_any_order_and_takes_its_time) {
  std::size_t long_first = 0;
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    std::chrono::nanoseconds took = 0ns;
    EXPECT_EQ(order_of_ends(explored(seed, testing::work_end::when_due), took), "sl") << seed;
    EXPECT_EQ(took, 2ms);
    long_first += order_of_ends(explored(seed, testing::work_end::any_order), took) == "ls";
    EXPECT_GE(took, 2ms) << "what has ended has taken its time, seed " << seed;
  }
  EXPECT_GT(long_first, 0U);
  EXPECT_LT(long_first, 50U);
}

// When work that ends early takes the clock past several timers, these are all due at once.
TEST(what_happens, timers_fire_in_the_order_in_which_they_are_due) {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    auto options = explored(seed, testing::work_end::any_order);
    options.keep_trace = true;
    options.costs.kernels["long"] = 50'000'000;
    const auto report = simulate(options, [](stage& play) {
      auto ctx = make_context(play);
      std::vector<stream> streams;
      for (const auto limit : {1ms, 2ms, 3ms}) {
        streams.push_back(ctx.create_stream().value());
        streams.back().wait(play.runtime().create_signal(), limit).or_throw();
      }
      ctx.default_stream().value().launch("long", [] {}).or_throw();
      EXPECT_THAT(ctx.synchronize(), HasCode(code::task_timeout));
    });
    std::string fired;
    for (const auto& line : report.trace) {
      if (const auto at = line.find("timer #"); at != std::string::npos) fired += line[at + 7];
    }
    EXPECT_EQ(fired.substr(0, 3), "123") << "seed " << seed;
  }
}

TEST(what_happens, copies_and_callbacks_take_what_the_model_says) {
  simulation_options options;
  options.costs.copy_setup_ns = 2'000;
  options.costs.callback_ns = 10'000;
  device_profile device;
  device.link_bandwidth = 1e9;    // a byte in a nanosecond
  device.memory_bandwidth = 2e9;
  options.runtime.devices = {device};
  options.runtime.copy_chunk_kib = 4;
  static constexpr std::size_t bytes = 16 * 1024; // four chunks, one set-up
  const auto report = simulate(options, [](stage& play) {
    auto ctx = make_context(play);
    auto s = ctx.create_stream().value();
    const auto on_device = ctx.allocate<char>(bytes).value();
    const auto other = ctx.allocate<char>(bytes).value();
    const auto pinned = play.runtime().allocate_host<char>(bytes).value();
    const auto time_of = [&](const status& submitted) {
      const auto before = play.elapsed();
      EXPECT_THAT(submitted, IsOk());
      EXPECT_THAT(s.synchronize(), IsOk());
      return play.elapsed() - before;
    };
    EXPECT_EQ(time_of(s.copy(on_device, pinned)), 2'000ns + std::chrono::nanoseconds(bytes));
    EXPECT_EQ(time_of(s.copy(other, on_device)), 2'000ns + std::chrono::nanoseconds(bytes / 2));
    EXPECT_EQ(time_of(s.callback("call", [] {})), 10'000ns);
  });
  EXPECT_FALSE(report.hang);
}

TEST(what_happens, runs_with_one_hash_went_one_way) {
  std::map<std::uint64_t, std::string> order_by_hash;
  std::set<std::string> orders;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    std::string order;
    const auto report = simulate(explored(seed, testing::work_end::when_due), [&](stage& play) {
      std::vector<testing::client> all;
      for (const char name : {'a', 'b'}) {
        all.push_back(play.start_client(std::string(1, name), [&play, &order, name] {
          for (int i = 0; i < 3; ++i) {
            order += name;
            play.pass_time(0ns);
          }
        }));
      }
      for (auto& each : all) each.join();
    });
    orders.insert(order);
    EXPECT_EQ(order_by_hash.emplace(report.order_hash, order).first->second, order) << seed;
  }
  EXPECT_GT(orders.size(), 5U);

  const auto hash_of = [](std::chrono::nanoseconds length) {
    return simulate({}, [length](stage& play) { play.pass_time(length); }).order_hash;
  };
  EXPECT_EQ(hash_of(1ms), hash_of(1ms));
  EXPECT_NE(hash_of(1ms), hash_of(2ms)) << "the time is part of it";
}

TEST(what_happens, the_trace_names_messages_clients_and_runtimes) {
  simulation_options options;
  options.keep_trace = true;
  const auto report = simulate(options, [&options](stage& play) {
    auto ctx = make_context(play);
    ctx.default_stream().value().launch("work", [] {}).or_throw();
    ctx.synchronize().or_throw();
    auto second = play.make_runtime(options.runtime);
    EXPECT_NE(second.device(0).value().create_context().value().id(), ctx.id())
        << "ids of one simulation are apart";
  });
  for (const auto* each : {"create_context", "doorbell", "works #1 ends", "client main #1 goes on",
                           "root 4 of runtime 2 #1 open_device"}) {
    EXPECT_THAT(report.trace, Contains(HasSubstr(each)));
  }
}

TEST(what_happens, what_a_client_throws_comes_out_of_its_join_or_of_the_run) {
  const auto careless = [] { throw std::runtime_error("spilled"); };
  const auto report = simulate({}, [&](stage& play) {
    auto joined = play.start_client("joined", careless);
    EXPECT_THROW(joined.join(), std::runtime_error);
  });
  EXPECT_FALSE(report.hang);
  EXPECT_THROW((void)simulate({}, [&](stage& play) { play.start_client("left", careless); }),
               std::runtime_error);
}

TEST(what_happens, a_state_that_nobody_brings_about_is_a_hang_and_one_that_comes_is_seen) {
  const auto report = simulate({}, [](stage& play) {
    auto ctx = make_context(play);
    auto s = ctx.create_stream().value();
    bool ran = false;
    s.launch("work", [&ran] { ran = true; }).or_throw();
    play.wait_until([&] { return ran && s.query().value(); });
    EXPECT_TRUE(ran);
    play.wait_until([] { return false; });
  });
  EXPECT_TRUE(report.hang);
}

} // namespace
} // namespace troupe
