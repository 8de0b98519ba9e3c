#include <array>
#include <random>
#include <tuple>

#include "tests/support/sanitizers.hpp"
#include "tests/support/stage.hpp"
#include "troupe/exploring.hpp"
#include "troupe/operators/dataflow.hpp"
#include "troupe/testing_gtest.hpp"

/// A random program as dataflow in many orders, and under every single fault: what the flow calls
/// good is what the same program gives one step after the other.
namespace troupe {
namespace {

using word = std::uint32_t;

constexpr std::size_t count = 4;
constexpr std::size_t steps = 14;
constexpr timeout limit{60'000}; // of virtual time, for what a fault keeps from ending

struct move_step {
  std::size_t from;
  std::size_t to;
  bool keeps;
};

std::vector<move_step> program() {
  std::minstd_rand chance(7);
  std::vector<move_step> made;
  for (std::size_t i = 0; i < steps; ++i) {
    made.push_back({chance() % count, chance() % count, chance() % 2 == 0});
  }
  return made;
}

word mixed(word from, word to, bool keeps) { return from * 31 + 7 + (keeps ? to * 5 : 0); }

std::array<word, count> eager() {
  std::array<word, count> made{1, 2, 3, 4};
  for (const auto& [from, to, keeps] : program()) made[to] = mixed(made[from], made[to], keeps);
  return made;
}

status submit_step(dataflow& flow, const std::array<tensor, count>& x, const move_step& step) {
  std::vector<tensor> reads{x[step.from]};
  if (step.keeps) reads.push_back(x[step.to]);
  const auto kernel = [keeps = step.keeps](const node_memory& at) {
    auto& to = *reinterpret_cast<word*>(at.writes[0]);
    to = mixed(*reinterpret_cast<const word*>(at.reads[0]), to, keeps);
  };
  return flow.submit("mix", kernel, reads, {&x[step.to], 1});
}

// How many tensors the flow calls good, over all devices. Calls of the runtime that a fault refuses
// end the play.
std::size_t play_flow(testing::stage& play) {
  std::vector<context> homes;
  for (std::size_t i = 0; i < play.runtime().device_count(); ++i) {
    auto dev = play.runtime().device(static_cast<std::int64_t>(i));
    if (!dev) return 0;
    auto ctx = dev.value().create_context();
    if (!ctx) return 0;
    homes.push_back(std::move(ctx).value());
  }
  auto flow = dataflow::make(homes, {2, 8, 4});
  if (!flow) return 0;
  std::array<tensor, count> x;
  for (word i = 0; i < count; ++i) {
    auto made = tensor::make(homes[i % homes.size()],
                             tensor_layout::make(element_type::s32, {1 + i % 3}).value());
    if (!made) return 0;
    x[i] = std::move(made).value();
    *reinterpret_cast<word*>(x[i].bytes().data()) = i + 1;
  }
  for (const auto& step : program()) {
    if (!submit_step(flow.value(), x, step).ok()) return 0;
  }
  const auto wanted = eager();
  std::size_t good = 0;
  for (std::size_t i = 0; i < count; ++i) {
    if (!flow.value().wait(x[i], limit).ok()) continue;
    ++good;
    const auto got = *reinterpret_cast<const word*>(x[i].bytes().data());
    if (got == wanted[i]) continue;
    throw std::runtime_error("tensor " + std::to_string(i) + " is called good and holds " +
                             std::to_string(got) + " instead of " + std::to_string(wanted[i]));
  }
  (void)flow.value().wait_all(limit);
  return good;
}

testing::simulation_options small(std::size_t devices) {
  testing::simulation_options made;
  made.runtime.devices.assign(devices, small_profile());
  return made;
}

struct flow_orders : ::testing::TestWithParam<std::size_t> {};

TEST_P(flow_orders, S12_gives_the_same_in_every_order) {
  LIVE_ONLY("it simulates runs itself");
  testing::exploration_options options;
  options.base = small(GetParam());
  options.runs = sanitized ? 50 : 500;
  const auto seen = testing::explore(options, [](testing::stage& play) {
    if (play_flow(play) != count) throw std::runtime_error("not all tensors are good");
  });
  EXPECT_FALSE(seen.failure) << seen.describe();
  EXPECT_GT(seen.distinct_orders, 10U);
}

INSTANTIATE_TEST_SUITE_P(devices, flow_orders, ::testing::Values(1U, 2U, 3U));

struct flow_sweep
    : ::testing::TestWithParam<std::tuple<std::size_t, testing::fault_class>> {};

// Bits flipped unseen are what no scheduler can know of.
TEST_P(flow_sweep, S12_what_is_called_good_is_right_under_every_single_fault) {
  LIVE_ONLY("it simulates runs itself");
  const auto result = testing::sweep(
      small(std::get<0>(GetParam())), [](testing::stage& play) { play_flow(play); }, nullptr,
      {std::get<1>(GetParam())}, 3);
  EXPECT_TRUE(result.findings.empty()) << result.describe();
}

INSTANTIATE_TEST_SUITE_P(all, flow_sweep,
                         ::testing::Combine(::testing::Values(1U, 2U),
                                            ::testing::ValuesIn(testing::all_fault_classes())),
                         [](const auto& each) {
                           const auto& what = std::get<1>(each.param);
                           return std::string(to_string(what.action.kind)) + "_at_" +
                                  std::string(to_string(what.point)) + "_over_" +
                                  std::to_string(std::get<0>(each.param));
                         });

} // namespace
} // namespace troupe
