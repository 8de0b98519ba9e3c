#include <gtest/gtest.h>

#include <cstdio>
#include <span>
#include <string>
#include <vector>

#include "tests/simulation/reference_job.hpp"
#include "tests/support/sanitizers.hpp"
#include "troupe/testing_gtest.hpp"
#include "troupe/troupe.hpp"

namespace troupe {
namespace {

using testing::exploration_options;
using testing::passes;
using testing::stage;
using namespace std::chrono_literals;

void add_one(std::span<int> all) {
  for (auto& each : all) ++each;
}

// Streams that hand a buffer to each other by events, round after round.
void ring(stage& play) {
  auto ctx = play.runtime().device(0).value().create_context().value();
  std::vector<stream> streams;
  std::vector<event> events;
  for (int i = 0; i < 3; ++i) {
    streams.push_back(ctx.create_stream().value());
    events.push_back(ctx.create_event().value());
  }
  auto data = ctx.allocate<int>(8).value();
  streams[0].fill_bytes(data, 0).or_throw();
  for (std::size_t turn = 0; turn < 9; ++turn) {
    const auto here = turn % 3;
    if (turn != 0) streams[here].wait(events[(turn - 1) % 3]).or_throw();
    streams[here].launch("add", add_one, data).or_throw();
    streams[here].record(events[here]).or_throw();
  }
  std::vector<int> out(8, 0);
  streams[2].copy(std::span(out), data).or_throw();
  play.observe("ring", std::span<const int>(out));
  if (out[0] != 9) throw std::runtime_error("the ring counted " + std::to_string(out[0]));
}

// Blocks of a pool that are freed while the work on them is still to come.
void pool_traffic(stage& play) {
  auto ctx = play.runtime().device(0).value().create_context().value();
  auto pool = ctx.create_pool().value();
  auto a = ctx.create_stream().value();
  auto b = ctx.create_stream().value();
  for (int i = 0; i < 6; ++i) {
    auto& s = i % 2 == 0 ? a : b;
    auto block = pool.allocate<int>(s, 64).value();
    s.fill_bytes(block, static_cast<unsigned char>(i)).or_throw();
    auto check = ctx.allocate<int>(1).value();
    s.launch("check", [i](std::span<const int> all) {
      for (const auto each : all) {
        if (each != i * 0x01010101) throw std::runtime_error("somebody wrote to the block");
      }
    }, block).or_throw();
  }
  ctx.synchronize().or_throw();
}

// Aborts beside work, from a second client.
void aborts(stage& play) {
  auto ctx = play.runtime().device(0).value().create_context().value();
  auto s = ctx.create_stream().value();
  auto other = ctx.create_stream().value();
  int ran = 0;
  auto aborter = play.start_client("aborter", [&s] {
    for (int i = 0; i < 3; ++i) (void)s.abort();
  });
  for (int i = 0; i < 6; ++i) {
    (void)s.launch("dropped or not", [] {});
    other.launch("counted", [&ran] { ++ran; }).or_throw();
  }
  aborter.join();
  (void)s.synchronize();
  s.launch("after", [&ran] { ++ran; }).or_throw();
  s.synchronize().or_throw();
  other.synchronize().or_throw();
  if (ran != 7) throw std::runtime_error(std::to_string(ran) + " of 7 ran");
}

// Contexts that come and go while others work.
void contexts(stage& play) {
  auto dev = play.runtime().device(0).value();
  auto steady = dev.create_context().value();
  auto s = steady.create_stream().value();
  int ran = 0;
  auto visitor = play.start_client("visitor", [&dev] {
    for (int i = 0; i < 3; ++i) {
      auto ctx = dev.create_context().value();
      ctx.create_stream().value().launch("cut off", [] {}).or_throw();
      ctx.destroy().or_throw();
    }
  });
  for (int i = 0; i < 6; ++i) s.launch("counted", [&ran] { ++ran; }).or_throw();
  s.synchronize().or_throw();
  visitor.join();
  if (ran != 6) throw std::runtime_error(std::to_string(ran) + " of 6 ran");
}

// What was explored, for a line at the end.
struct tally {
  std::uint64_t runs = 0;
  std::uint64_t orders = 0;
  std::uint64_t recent = 0;

  void add(const testing::exploration_result& result) {
    runs += result.runs;
    orders += result.distinct_orders;
    recent += result.new_in_last_tenth;
  }
};

// A bounded search at each build: a fixed number of runs, so that its time is bounded as well.
TEST(bounded_exploration, of_the_reference_job_and_some_small_programs) {
  tally all;
  exploration_options small;
  small.runs = sanitized ? 40 : 400;
  for (const auto program : {&ring, &pool_traffic, &aborts, &contexts}) {
    const auto found = explore(testing::asked(small), program);
    EXPECT_TRUE(passes(found));
    all.add(found);
  }
  reference_job job;
  exploration_options large;
  large.runs = sanitized ? 4 : 60;
  large.base.expected_steps = 6'000;
  large.base.runtime.devices.assign(reference_job::sides, device_profile{});
  for (auto& each : large.base.runtime.devices) each.memory_bytes = std::uint64_t{64} << 20;
  const auto found = explore(
      testing::asked(large), [&job](stage& play) { job.run(play); },
      [&job](const testing::simulation_report& report) { return job.verdict(report); });
  EXPECT_TRUE(passes(found));
  all.add(found);
  std::printf("exploration: %llu runs, %llu different orders, %llu of them new in the last tenth\n",
              static_cast<unsigned long long>(all.runs),
              static_cast<unsigned long long>(all.orders),
              static_cast<unsigned long long>(all.recent));
}

TEST(bounded_exploration, says_which_messages_met_which_actors) {
  exploration_options options;
  options.runs = 60;
  options.base.measure_coverage = true;
  const auto before = explore(options, &aborts).seen;
  const auto& messages = before.seen().messages;
  EXPECT_EQ(messages.count({"stream", "idle", "abort_stream", false}), 1U);
  EXPECT_EQ(messages.count({"stream", "at work", "abort_stream", false}), 1U);
  EXPECT_EQ(messages.count({"stream", "idle", "abort_stream", true}), 0U);
  EXPECT_GT(before.seen().pairs.at({"stream", "abort_stream", "abort_stream"}), 0U);
  const auto table = before.describe();
  EXPECT_NE(table.find("  pool, up: grow_pool\n"), std::string::npos) << table;
  const auto after = testing::sweep(options.base, &ring, nullptr,
                                    {{fault_point::complete, fault_action::delay(5)}});
  EXPECT_GT(after.seen.seen().messages.count({"compute", "free", "doorbell", true}), 0U);
}

} // namespace
} // namespace troupe
