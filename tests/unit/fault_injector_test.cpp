#include "core/faults/fault_injector.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace troupe {
namespace {

using testing::HasSubstr;
using testing::Not;

fault_entry entry(fault_pick pick, const fault_action& action, std::string name = "") {
  return {std::move(name), std::move(pick), action};
}

fault_plan plan_of(std::vector<fault_entry> entries) {
  return {"test", 7, std::move(entries)};
}

/// A pick of all that happens at a point, as often as it does; tests change what they are about.
fault_pick any_at(fault_point point) {
  fault_pick pick;
  pick.point = point;
  pick.times = 0;
  return pick;
}

fault_pick any_completion() { return any_at(fault_point::complete); }

fault_pick any_execution() { return any_at(fault_point::execute); }

/// A site with everything that some point has.
fault_site site(std::uint64_t ordinal = 1, std::string_view channel = "engine>stream 3",
                fault_point point = fault_point::complete) {
  fault_site here;
  here.point = point;
  here.device = 0;
  here.context = 2;
  here.stream = 3;
  here.engine = "compute";
  here.message = "doorbell";
  here.operation = "scale";
  here.channel = channel;
  here.ordinal = ordinal;
  here.now_ns = 5'000'000;
  here.bytes = 64;
  return here;
}

/// Which of the sites number 1 to `count` on one channel are struck.
std::set<std::uint64_t> struck(fault_injector& injector, std::uint64_t count,
                               std::string_view channel = "engine>stream 3",
                               fault_point point = fault_point::complete) {
  std::set<std::uint64_t> hits;
  for (std::uint64_t i = 1; i <= count; ++i)
    if (injector.decide(site(i, channel, point))) hits.insert(i);
  return hits;
}

TEST(fault_injector, strikes_what_fits_and_tells_all_about_it) {
  fault_injector injector(plan_of({entry(any_completion(), fault_action::drop(), "lost")}));
  std::string channel = "engine>stream 3";
  std::string operation = "scale";
  auto here = site(9, channel);
  here.operation = operation.c_str();
  const auto hit = injector.decide(here);
  ASSERT_TRUE(hit);
  channel.assign("changed!");
  operation.assign("gone!");
  EXPECT_EQ(hit->number, 1U);
  EXPECT_EQ(hit->entry, 0U);
  EXPECT_EQ(hit->entry_name, "lost");
  EXPECT_EQ(hit->action, fault_action::drop());
  const fault_victim expected{
      {fault_point::complete, 0U, 2U, 3U, "compute", "doorbell", "scale", "engine>stream 3", 9},
      5'000'000,
      64};
  EXPECT_EQ(hit->victim, expected);
  EXPECT_EQ(injector.decide(here)->number, 2U);
}

TEST(fault_injector, needs_every_field_of_the_pick_to_fit) {
  const auto strikes = [](fault_point point, auto change_pick) {
    auto pick = any_at(point);
    change_pick(pick);
    fault_injector injector(plan_of({entry(pick, fault_action::delay(1))}));
    return injector.decide(site(1, "engine>stream 3", point)).has_value();
  };
  using at = fault_point;
  EXPECT_TRUE(strikes(at::complete, [](auto&) {}));
  EXPECT_FALSE(strikes(at::complete, [](auto& pick) { pick.point = at::execute; }));
  EXPECT_TRUE(strikes(at::complete, [](auto& pick) { pick.device = 0; }));
  EXPECT_FALSE(strikes(at::complete, [](auto& pick) { pick.device = 1; }));
  EXPECT_TRUE(strikes(at::complete, [](auto& pick) { pick.context = 2; }));
  EXPECT_FALSE(strikes(at::complete, [](auto& pick) { pick.context = 0; }));
  EXPECT_TRUE(strikes(at::complete, [](auto& pick) { pick.stream = 3; }));
  EXPECT_FALSE(strikes(at::complete, [](auto& pick) { pick.stream = 4; }));
  EXPECT_TRUE(strikes(at::execute, [](auto& pick) { pick.engine = "compute"; }));
  EXPECT_FALSE(strikes(at::execute, [](auto& pick) { pick.engine = "dma_h2d"; }));
  EXPECT_TRUE(strikes(at::message, [](auto& pick) { pick.message = "doorbell"; }));
  EXPECT_FALSE(strikes(at::message, [](auto& pick) { pick.message = "work_due"; }));
  EXPECT_TRUE(strikes(at::complete, [](auto& pick) { pick.operation = "scale"; }));
  EXPECT_FALSE(strikes(at::complete, [](auto& pick) { pick.operation = "scale2"; }));
  EXPECT_TRUE(strikes(at::complete, [](auto& pick) { pick.channel = "engine>stream 3"; }));
  EXPECT_FALSE(strikes(at::complete, [](auto& pick) { pick.channel = "engine>stream 30"; }));
}

TEST(fault_injector, what_a_site_does_not_have_fits_no_pick_that_asks_for_it) {
  auto by_device = any_execution();
  by_device.device = 0;
  auto by_engine = any_execution();
  by_engine.engine = "compute";
  fault_injector injector(plan_of({entry(by_device, fault_action::slow(2)),
                                   entry(by_engine, fault_action::slow(3))}));
  fault_site bare;
  bare.point = fault_point::execute;
  bare.channel = "c";
  bare.ordinal = 1;
  EXPECT_FALSE(injector.decide(bare));
  bare.device = 0;
  EXPECT_TRUE(injector.decide(bare));
}

TEST(fault_injector, the_window_opens_at_its_start_and_is_closed_at_its_end) {
  auto pick = any_completion();
  pick.from_ms = 2;
  pick.until_ms = 3;
  fault_injector injector(plan_of({entry(pick, fault_action::drop())}));
  auto here = site();
  const auto strikes_at = [&](std::int64_t ns) {
    here.now_ns = ns;
    return injector.decide(here).has_value();
  };
  EXPECT_FALSE(strikes_at(1'999'999));
  EXPECT_TRUE(strikes_at(2'000'000));
  EXPECT_TRUE(strikes_at(2'999'999));
  EXPECT_FALSE(strikes_at(3'000'000));
}

TEST(fault_injector, an_entry_fires_once_unless_told_otherwise) {
  auto pick = any_completion();
  pick.times = fault_pick{}.times;
  fault_injector once(plan_of({entry(pick, fault_action::drop())}));
  EXPECT_EQ(struck(once, 5), std::set<std::uint64_t>{1});
  pick.times = 3;
  fault_injector thrice(plan_of({entry(pick, fault_action::drop())}));
  EXPECT_EQ(struck(thrice, 5), (std::set<std::uint64_t>{1, 2, 3}));
}

TEST(fault_injector, the_first_entry_that_may_fire_wins) {
  auto first = any_completion();
  first.times = 1;
  fault_injector injector(plan_of({entry(first, fault_action::drop()),
                                   entry(any_completion(), fault_action::duplicate())}));
  EXPECT_EQ(injector.decide(site(1))->entry, 0U);
  EXPECT_EQ(injector.decide(site(2))->entry, 1U);
  const auto second = injector.decide(site(3));
  EXPECT_EQ(second->entry, 1U);
  EXPECT_EQ(second->entry_name, "entry 2");
}

TEST(fault_injector, an_ordinal_with_a_channel_is_the_number_on_the_channel) {
  auto pick = any_completion();
  pick.channel = "engine>stream 3";
  pick.ordinal = 4;
  fault_injector injector(plan_of({entry(pick, fault_action::drop())}));
  EXPECT_TRUE(injector.decide(site(4))); // though it is the first that this entry sees
  EXPECT_FALSE(injector.decide(site(4, "stream 5")));
  EXPECT_EQ(struck(injector, 6), std::set<std::uint64_t>{4});
}

TEST(fault_injector, an_ordinal_without_a_channel_counts_the_matches_of_its_entry) {
  auto other = any_completion();
  other.times = 2;
  auto third = any_completion();
  third.operation = "scale";
  third.ordinal = 3;
  fault_injector injector(plan_of({entry(other, fault_action::duplicate()),
                                   entry(third, fault_action::drop())}));
  auto misses = site(50);
  misses.operation = "add";
  EXPECT_EQ(injector.decide(misses)->entry, 0U);  // no match of the second
  EXPECT_EQ(injector.decide(site(51))->entry, 0U); // its first match, though another strikes
  EXPECT_FALSE(injector.decide(site(52, "stream 8")));
  EXPECT_EQ(injector.decide(site(53))->entry, 1U); // its third, on whichever channel
  EXPECT_FALSE(injector.decide(site(54)));
}

TEST(fault_injector, chance_strikes_about_the_share_asked_for) {
  const auto share = [](double chance) {
    auto pick = any_completion();
    pick.chance = chance;
    fault_injector injector(plan_of({entry(pick, fault_action::drop())}));
    return struck(injector, 2000).size();
  };
  EXPECT_EQ(share(1e-9), 0U);
  EXPECT_EQ(share(1), 2000U);
  EXPECT_GT(share(0.1), 150U);
  EXPECT_LT(share(0.1), 250U);
}

TEST(fault_injector, chance_depends_on_seed_entry_channel_and_ordinal_but_on_no_order) {
  auto pick = any_completion();
  pick.chance = 0.5;
  const auto plan = plan_of({entry(pick, fault_action::drop())});
  fault_injector alone(plan);
  const auto expected = struck(alone, 200);

  // Backwards, and between the messages of other channels.
  fault_injector mixed(plan);
  std::set<std::uint64_t> hits;
  for (std::uint64_t i = 200; i >= 1; --i) {
    (void)mixed.decide(site(i, "stream 8"));
    if (mixed.decide(site(i))) hits.insert(i);
    (void)mixed.decide(site(1000 + i, "engine 1"));
  }
  EXPECT_EQ(hits, expected);

  EXPECT_NE(struck(alone, 200, "stream 8"), expected);
  auto reseeded = plan;
  reseeded.seed = 8;
  fault_injector other(reseeded);
  EXPECT_NE(struck(other, 200), expected);
  auto never = pick;
  never.chance = 1e-9;
  fault_injector moved(plan_of({entry(never, fault_action::drop()),
                                entry(pick, fault_action::drop())}));
  EXPECT_NE(struck(moved, 200), expected);
}

TEST(fault_injector, chance_strikes_the_same_sites_in_every_release) {
  auto pick = any_completion();
  pick.chance = 0.1;
  fault_injector injector(plan_of({entry(pick, fault_action::drop())}));
  EXPECT_EQ(struck(injector, 50, "stream 3"), (std::set<std::uint64_t>{10, 15, 33, 36, 46, 48}));
}

TEST(fault_injector, may_be_asked_by_many_threads_and_loses_no_count) {
  constexpr std::uint64_t per_thread = 2000;
  auto limited = any_completion();
  limited.times = 100;
  auto chancy = any_completion();
  chancy.chance = 0.25;
  const auto plan = plan_of({entry(limited, fault_action::drop()),
                             entry(chancy, fault_action::duplicate())});
  fault_injector injector(plan);
  const std::vector<std::string> channels{"a", "b", "c", "d"};
  std::vector<std::thread> threads;
  for (const auto& channel : channels)
    threads.emplace_back([&] { (void)struck(injector, per_thread, channel); });
  for (auto& thread : threads) thread.join();

  const auto report = injector.report();
  EXPECT_EQ(report.entries[0].matched, channels.size() * per_thread);
  EXPECT_EQ(report.entries[0].fired, 100U);
  EXPECT_EQ(report.entries[1].matched, channels.size() * per_thread);
  EXPECT_EQ(report.fired, report.entries[0].fired + report.entries[1].fired);
  ASSERT_EQ(report.activations.size(), report.fired);
  for (std::size_t i = 0; i < report.activations.size(); ++i)
    EXPECT_EQ(report.activations[i].number, i + 1);
}

TEST(fault_injector, tells_which_points_it_watches) {
  fault_injector injector(plan_of({entry(any_completion(), fault_action::drop())}));
  EXPECT_TRUE(injector.watches(fault_point::complete));
  EXPECT_FALSE(injector.watches(fault_point::execute));
}

TEST(fault_injector, takes_no_invalid_plan_and_no_site_without_a_name) {
  auto pick = any_completion();
  pick.chance = 2;
  EXPECT_DEATH(fault_injector(plan_of({entry(pick, fault_action::drop())})), "");
  fault_injector injector(plan_of({entry(any_completion(), fault_action::drop())}));
  EXPECT_DEATH((void)injector.decide(site(0)), "");
  EXPECT_DEATH((void)injector.decide(site(1, "")), "");
}

// -- the report ---------------------------------------------------------------

/// Two entries that fire and two that do not, over ten sites.
fault_report sample_report() {
  auto second = any_execution();
  second.channel = "stream 3>compute of device 0";
  second.ordinal = 2;
  auto never = any_execution();
  never.device = 5;
  auto unlucky = any_execution();
  unlucky.chance = 1e-9;
  auto first_two = any_execution();
  first_two.times = 2;
  fault_injector injector(plan_of({entry(second, fault_action::corrupt(1, true), "flip"),
                                   entry(never, fault_action::kill_actor()),
                                   entry(unlucky, fault_action::slow(2), "unlucky\nname"),
                                   entry(first_two, fault_action::delay(3))}));
  (void)struck(injector, 10, "stream 3>compute of device 0", fault_point::execute);
  return injector.report();
}

TEST(fault_report, says_in_lines_what_fired_how_often_and_what_it_hit) {
  EXPECT_EQ(sample_report().to_text(),
            "fault plan 'test', seed 7: 3 activations of 2 entries, 2 entries never fired\n"
            "entry 'flip', corrupt 1 byte with 507054 at execute: fired 1 time at 10 matches\n"
            "entry 'entry 2', kill_actor at execute: fired 0 times at 0 matches\n"
            "entry 'unlucky name', slow by a factor of 2 at execute: fired 0 times at 10 matches\n"
            "entry 'entry 4', delay for 3 ms at execute: fired 2 times at 10 matches\n"
            "activation 1: 'entry 4', delay for 3 ms, hit execute of operation 'scale', message "
            "'doorbell', engine 'compute', device 0, context 2, stream 3, bytes 64, channel "
            "'stream 3>compute of device 0' no. 1, at 5000.000 us\n"
            "activation 2: 'flip', corrupt 1 byte with 507054, hit execute of operation 'scale', "
            "message 'doorbell', engine 'compute', device 0, context 2, stream 3, bytes 64, "
            "channel 'stream 3>compute of device 0' no. 2, at 5000.000 us\n"
            "activation 3: 'entry 4', delay for 3 ms, hit execute of operation 'scale', message "
            "'doorbell', engine 'compute', device 0, context 2, stream 3, bytes 64, channel "
            "'stream 3>compute of device 0' no. 3, at 5000.000 us\n"
            "never fired: 'entry 2', nothing matched\n"
            "never fired: 'unlucky name', 10 matches\n");
}

TEST(fault_report, says_the_same_as_json) {
  const auto json = nlohmann::json::parse(sample_report().to_json());
  EXPECT_EQ(json["plan"], "test");
  EXPECT_EQ(json["seed"], 7);
  EXPECT_EQ(json["fired"], 3);
  EXPECT_EQ(json["not_kept"], 0);
  EXPECT_EQ(json["never_fired"], nlohmann::json::parse(R"(["entry 2", "unlucky\nname"])"));
  ASSERT_EQ(json["entries"].size(), 4U);
  EXPECT_EQ(json["entries"][3], nlohmann::json::parse(R"({"entry": 4, "name": "entry 4",
    "point": "execute", "action": {"kind": "delay", "ms": 3.0}, "matched": 10, "fired": 2})"));
  ASSERT_EQ(json["activations"].size(), 3U);
  EXPECT_EQ(json["activations"][1], nlohmann::json::parse(R"({"number": 2, "entry": 1,
    "name": "flip", "kind": "corrupt", "code": 507054, "victim": {"point": "execute",
    "device": 0, "context": 2, "stream": 3, "engine": "compute", "message": "doorbell",
    "operation": "scale", "channel": "stream 3>compute of device 0",
    "ordinal": 2, "now_ns": 5000000, "bytes": 64}})"));
}

TEST(fault_report, K3_is_byte_equal_for_a_second_run_with_the_same_seed) {
  EXPECT_EQ(sample_report(), sample_report());
  EXPECT_EQ(sample_report().to_json(), sample_report().to_json());
  EXPECT_EQ(sample_report().to_text(), sample_report().to_text());
}

TEST(fault_report, K3_lists_five_activations_with_their_victims_for_five_entries_over_200_tasks) {
  std::vector<fault_entry> entries;
  for (const std::uint64_t task : {10U, 50U, 90U, 130U, 170U}) {
    fault_pick pick = any_execution();
    pick.channel = "stream 3>compute of device 0";
    pick.ordinal = task;
    entries.push_back(entry(pick, fault_action::never_complete()));
  }
  fault_injector injector(plan_of(entries));
  (void)struck(injector, 200, "stream 3>compute of device 0", fault_point::execute);
  const auto report = injector.report();
  ASSERT_EQ(report.activations.size(), 5U);
  for (std::size_t i = 0; i < 5; ++i) {
    EXPECT_EQ(report.activations[i].entry, i);
    EXPECT_EQ(report.activations[i].victim.ordinal, 10 + 40 * i);
  }
  EXPECT_THAT(report.to_text(), Not(HasSubstr("never fired:")));
}

TEST(fault_report, labels_what_breaks_a_promised_order_as_adversarial) {
  for (const bool adversarial : {false, true}) {
    fault_injector injector(
        plan_of({entry(any_at(fault_point::message), fault_action::reorder(adversarial))}));
    (void)injector.decide(site(1, "to stream 3", fault_point::message));
    const auto report = injector.report();
    const auto json = nlohmann::json::parse(report.to_json());
    EXPECT_EQ(json["activations"][0].contains("adversarial"), adversarial);
    EXPECT_EQ(json["entries"][0]["action"].contains("adversarial"), adversarial);
    const auto said = report.to_text();
    EXPECT_EQ(said.find("reorder, adversarial, hit message") != said.npos, adversarial) << said;
  }
}

TEST(fault_report, keeps_ten_thousand_activations_and_counts_the_rest) {
  fault_injector injector(plan_of({entry(any_completion(), fault_action::drop())}));
  (void)struck(injector, 10'003);
  const auto report = injector.report();
  EXPECT_EQ(report.activations.size(), 10'000U);
  EXPECT_EQ(report.activations.back().number, 10'000U);
  EXPECT_EQ(report.fired, 10'003U);
  EXPECT_EQ(report.entries[0].fired, 10'003U);
  EXPECT_EQ(report.not_kept(), 3U);
  EXPECT_THAT(report.to_text(), HasSubstr("\n3 later activations were counted only\n"));
  EXPECT_EQ(nlohmann::json::parse(report.to_json())["not_kept"], 3);
}

TEST(fault_victim, is_described_without_what_does_not_apply) {
  fault_victim victim;
  victim.point = fault_point::notice;
  victim.channel = "clock";
  victim.ordinal = 2;
  victim.now_ns = 1'002'003;
  EXPECT_EQ(describe(victim), "notice, channel 'clock' no. 2, at 1002.003 us");
}

// -- corruption ---------------------------------------------------------------

fault_activation corruption(std::uint64_t bytes, std::uint64_t ordinal) {
  fault_injector injector(plan_of({entry(any_execution(), fault_action::corrupt(bytes, false))}));
  return *injector.decide(site(ordinal, "stream 3", fault_point::execute));
}

/// How many bits of each byte differ from zero after a corruption of `size` zeros.
std::vector<std::byte> corrupted(std::size_t size, const fault_activation& activation) {
  std::vector<std::byte> bytes(size);
  EXPECT_EQ(corrupt_bytes(bytes, activation),
            std::min<std::size_t>(size, activation.action.bytes));
  return bytes;
}

TEST(corrupt_bytes, K8_flips_one_bit_in_each_of_as_many_bytes_as_asked) {
  for (const std::size_t asked : {1U, 2U, 50U, 99U, 100U}) {
    const auto bytes = corrupted(100, corruption(asked, 1));
    std::size_t touched = 0;
    for (const auto each : bytes) {
      const int bits = std::popcount(std::to_integer<unsigned>(each));
      EXPECT_LE(bits, 1);
      touched += bits == 1;
    }
    EXPECT_EQ(touched, asked);
  }
}

TEST(corrupt_bytes, flips_rather_than_sets_and_so_undoes_itself) {
  const auto activation = corruption(40, 1);
  std::vector<std::byte> bytes(64, std::byte{0xA5});
  const auto before = bytes;
  corrupt_bytes(bytes, activation);
  EXPECT_NE(bytes, before);
  corrupt_bytes(bytes, activation);
  EXPECT_EQ(bytes, before);
}

TEST(corrupt_bytes, repeats_for_one_victim_and_differs_for_another) {
  EXPECT_EQ(corrupted(1000, corruption(5, 1)), corrupted(1000, corruption(5, 1)));
  EXPECT_NE(corrupted(1000, corruption(5, 1)), corrupted(1000, corruption(5, 2)));
}

TEST(corrupt_bytes, takes_what_there_is_of_a_small_buffer) {
  EXPECT_NE(corrupted(3, corruption(10, 1)), std::vector<std::byte>(3));
  EXPECT_EQ(corrupted(0, corruption(10, 1)).size(), 0U);
}

TEST(corrupt_bytes, reaches_every_byte_and_every_bit) {
  std::vector<std::byte> all(16);
  for (std::uint64_t i = 1; i <= 2000; ++i) {
    const auto bytes = corrupted(all.size(), corruption(1, i));
    std::ranges::transform(all, bytes, all.begin(), [](auto a, auto b) { return a | b; });
  }
  EXPECT_EQ(all, std::vector<std::byte>(16, std::byte{0xFF}));
}

} // namespace
} // namespace troupe
