// A simulated run is a function of program, options and seed: nothing of the process shows in it.

#include <sys/personality.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "core/stable_hash.hpp"
#include "tests/support/sanitizers.hpp"
#include "tests/support/simulated.hpp"
#include "troupe/testing.hpp"
#include "troupe/troupe.hpp"

namespace troupe {
namespace {

using testing::simulation_options;
using testing::stage;
using namespace std::chrono_literals;

constexpr std::uint64_t seeds = sanitized ? 100 : 1'000;

fault_entry now_and_then(fault_point point, fault_action action) {
  auto made = fault_at(point, action);
  made.pick.chance = 0.05;
  made.pick.times = 0;
  return made;
}

simulation_options options_of(std::uint64_t seed) {
  simulation_options made;
  made.seed = seed;
  made.choice = testing::order::explore;
  made.ends = seed % 2 == 0 ? testing::work_end::any_order : testing::work_end::when_due;
  made.expected_steps = 200;
  made.runtime.devices.resize(2);
  made.faults.emplace();
  made.faults->seed = seed;
  made.faults->entries = {now_and_then(fault_point::complete, fault_action::drop()),
                          now_and_then(fault_point::execute, fault_action::slow(10)),
                          now_and_then(fault_point::execute, fault_action::fail_at_execution()),
                          now_and_then(fault_point::handoff, fault_action::delay(1)),
                          now_and_then(fault_point::notice, fault_action::duplicate()),
                          now_and_then(fault_point::message, fault_action::delay(2))};
  return made;
}

// Two clients, each on a device of its own and with two streams that wait for each other: kernels,
// copies, a pool, callbacks, an abort. What they are told and what they read goes into `seen`.
void one_side(stage& play, std::size_t index, stable_hash& seen) {
  const auto note = [&seen](const status& told) {
    seen.add(static_cast<std::uint64_t>(told.code()));
  };
  auto ctx = make_context(play, static_cast<std::int64_t>(index));
  auto a = ctx.create_stream().value();
  auto b = ctx.create_stream({.priority = 1, .queue_depth = 4}).value();
  auto mark = ctx.create_event().value();
  auto pool = ctx.create_pool().value();
  const auto data = ctx.allocate<int>(64, initial::cleared).value();
  std::vector<int> out(64, 0);
  const auto add = [](std::span<int> all) { for (auto& each : all) ++each; };
  for (int i = 0; i < 3; ++i) {
    note(a.launch("add", add, data));
    note(a.record(mark));
    note(b.wait(mark, 50ms));
    const auto scratch = pool.allocate<int>(b, 64);
    if (scratch) note(b.launch("scratch", add, scratch.value()));
    note(b.callback("call", [] {}));
    note(b.record(mark));
    note(a.wait(mark, 50ms));
  }
  note(a.copy(std::span(out), data));
  note(b.synchronize(1s));
  note(a.abort());
  note(ctx.synchronize(5s));
  for (const auto each : out) seen.add(static_cast<std::uint64_t>(each));
}

std::uint64_t hash_of_run(std::uint64_t seed) {
  std::array<stable_hash, 2> seen;
  const auto report = testing::try_simulate(options_of(seed), [&](stage& play) {
    auto other = play.start_client("other", [&] { one_side(play, 1, seen[1]); });
    one_side(play, 0, seen[0]);
    other.join();
  });
  stable_hash all;
  all.add(report.order_hash).add(report.steps).add(report.faults.fired);
  all.add(static_cast<std::uint64_t>(report.elapsed.count())).add(report.hang.value_or(""));
  all.add(report.script);
  return all.add(seen[0].value()).add(seen[1].value()).value();
}

// Where a variable lies, which address randomisation decides.
std::uint64_t somewhere() {
  static const auto on_the_heap = std::make_unique<int>(0);
  return reinterpret_cast<std::uintptr_t>(on_the_heap.get());
}

constexpr const char* second_process = "TROUPE_TEST_SECOND_PROCESS";

TEST(determinism, every_seed_goes_the_same_way_again_in_this_process_and_in_another) {
  stable_hash all;
  std::uint64_t other_way = 0;
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    const auto hash = hash_of_run(seed);
    all.add(hash);
    if (std::getenv(second_process) != nullptr) continue;
    other_way += hash_of_run(seed) == hash ? 0 : 1;
  }
  if (std::getenv(second_process) != nullptr) {
    std::printf("hash %" PRIu64 " at %" PRIu64 "\n", all.value(), somewhere());
    return;
  }
  EXPECT_EQ(other_way, 0U) << "of " << seeds << " seeds";

  const auto own = "exec /proc/" + std::to_string(getpid()) + "/exe";
  const auto call = std::string("export ") + second_process + "=1; " + own +
                    " --gtest_filter='determinism.every_seed*'";
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> child(popen(call.c_str(), "r"), &pclose);
  ASSERT_NE(child, nullptr);
  std::array<char, 256> line{};
  std::uint64_t hash = 0, place = 0;
  bool told = false;
  while (!told && std::fgets(line.data(), line.size(), child.get()) != nullptr) {
    told = std::sscanf(line.data(), "hash %" SCNu64 " at %" SCNu64, &hash, &place) == 2;
  }
  ASSERT_TRUE(told) << "by the second process";
  EXPECT_EQ(hash, all.value());
  const bool fixed = (personality(0xffffffff) & ADDR_NO_RANDOMIZE) != 0;
  EXPECT_TRUE(fixed || place != somewhere()) << "the addresses are the same, so this proves little";
}

TEST(determinism, seeds_go_different_ways) {
  std::vector<std::uint64_t> hashes;
  for (std::uint64_t seed = 1; seed <= 50; ++seed) hashes.push_back(hash_of_run(seed));
  std::sort(hashes.begin(), hashes.end());
  const auto last = std::unique(hashes.begin(), hashes.end());
  EXPECT_GT(last - hashes.begin(), 40);
}

} // namespace
} // namespace troupe
