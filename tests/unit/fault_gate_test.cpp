#include "actors/faults/fault_gate.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "actors/machine.hpp"
#include "core/faults/fault_action.hpp"
#include "tests/support/simulated.hpp"
#include "tests/support/stage.hpp"
#include "troupe/testing.hpp"

namespace troupe {
namespace {

// One entry at each point, none of which shifts anything: a delay by nothing to speak of, or what
// the point knows instead.
fault_plan all_points(double chance) {
  fault_plan made;
  for (std::size_t p = 0; p < fault_point_count; ++p) {
    const auto point = static_cast<fault_point>(p);
    auto action = fault_action::delay(0.001);
    if (point == fault_point::submit) action = fault_action::fail_at_submit();
    if (point == fault_point::execute) action = fault_action::slow(2);
    if (point == fault_point::allocate) action = fault_action::refuse_allocation();
    if (point == fault_point::heartbeat) action = fault_action::lose_device();
    auto entry = fault_at(point, action);
    entry.pick.chance = chance;
    entry.pick.times = 0;
    made.entries.push_back(std::move(entry));
  }
  return made;
}

// What comes and goes in a program that runs for long.
void visit(runtime& rt) {
  auto dev = rt.device(0).value();
  auto ctx = dev.create_context().value();
  auto s = ctx.create_stream().value();
  auto p = ctx.create_pool().value();
  auto data = ctx.allocate<int>(64).value();
  auto pinned = rt.allocate_host<int>(64).value();
  const auto event = ctx.create_event().value();
  const auto gate = rt.create_signal();
  s.wait(gate, timeout(60'000)).or_throw();
  s.copy(data, pinned).or_throw();
  s.launch("work", [](std::span<int>) {}, data).or_throw();
  s.record(event).or_throw();
  gate.raise();
  s.synchronize().or_throw();
  s.abort().or_throw();
  (void)rt.set_device(0);
  current::unbind();
  (void)rt.reset_device(0);
}

std::size_t channels_after(unsigned visits, testing::stage& play) {
  for (auto i = 0U; i < visits; ++i) visit(play.runtime());
  return play.runtime().device(0).value().home()->gate()->channels();
}

TEST(fault_gate, keeps_nothing_of_contexts_and_streams_that_have_ended) {
  testing::simulation_options options;
  options.faults = all_points(1e-12);
  std::size_t few = 0;
  std::size_t many = 0;
  const auto report = play_out(options, [&](testing::stage& play) {
    few = channels_after(2, play);
    many = channels_after(100, play);
  });
  EXPECT_EQ(few, many);
  EXPECT_LE(many, 3U); // memory of the device, pinned memory, heartbeat
  for (const auto& each : report.faults.entries) {
    if (each.point == fault_point::heartbeat) continue;
    EXPECT_GT(each.matched, 100U) << each.name;
  }
}

// A name stands for one party for good, and what passes there is numbered without a gap.
TEST(fault_gate, numbers_what_passes_on_each_channel_from_1_without_gap_whatever_ends) {
  testing::simulation_options options;
  options.faults.emplace();
  for (const auto point : {fault_point::message, fault_point::handoff, fault_point::notice,
                           fault_point::reply, fault_point::timer}) {
    auto entry = fault_at(point, fault_action::delay(0.001));
    entry.pick.times = 0;
    options.faults->entries.push_back(std::move(entry));
  }
  const auto report = play_out(options, [](testing::stage& play) {
    for (int i = 0; i < 20; ++i) visit(play.runtime());
  });
  std::map<std::string, std::uint64_t> passed;
  ASSERT_GT(report.faults.activations.size(), 500U);
  ASSERT_EQ(report.faults.not_kept(), 0U);
  for (const auto& each : report.faults.activations) {
    EXPECT_EQ(each.victim.ordinal, ++passed[each.victim.channel]) << each.victim.channel;
  }
  EXPECT_GT(passed.size(), 200U);
}

} // namespace
} // namespace troupe
