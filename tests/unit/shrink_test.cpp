#include "core/exploration/shrink.hpp"

#include <algorithm>
#include <set>
#include <string>

#include <gtest/gtest.h>

#include "core/exploration/seeded.hpp"
#include "tests/unit/toy_machine.hpp"

namespace troupe {
namespace {

using testing_support::late_read;

/// `count` delays of 100 steps, on channels "0", "1", ...
schedule_script delays(std::size_t count) {
  schedule_script script;
  for (std::size_t i = 0; i < count; ++i)
    script.entries.push_back(schedule_entry::late(std::to_string(i), 1, 100));
  return script;
}

/// The delay of channel `name`; 0 if it has none.
std::uint64_t delay_of(const schedule_script& script, std::string_view name) {
  for (const auto& entry : script.entries)
    if (entry.channel == name) return entry.delay;
  return 0;
}

TEST(shrink, finds_the_one_entry_that_matters_and_its_shortest_delay) {
  const auto found = shrink(delays(64), [](const auto& s) { return delay_of(s, "37") >= 41; });
  EXPECT_EQ(to_string(found.script), "37 #1 +41");
  EXPECT_TRUE(found.reproduced);
  EXPECT_TRUE(found.minimal);
  EXPECT_LE(found.replays, 40u); // some 2 * log2(64) to delete, some log2(100) to shorten
}

TEST(shrink, keeps_entries_that_fail_only_together) {
  const auto found = shrink(delays(50), [](const auto& s) {
    return delay_of(s, "3") >= 7 && delay_of(s, "20") >= 1 && delay_of(s, "49") >= 100;
  });
  EXPECT_EQ(to_string(found.script), "3 #1 +7; 20 #1 +1; 49 #1 +100");
  EXPECT_TRUE(found.minimal);
}

TEST(shrink, deletes_again_what_shorter_delays_made_needless) {
  // The second entry is needed as long as the first is long.
  const auto found = shrink(delays(2), [](const auto& s) {
    return delay_of(s, "0") >= 5 && (delay_of(s, "0") <= 10 || delay_of(s, "1") > 0);
  });
  EXPECT_EQ(to_string(found.script), "0 #1 +5");
}

TEST(shrink, needs_two_replays_for_a_failure_that_needs_no_script) {
  const auto found = shrink(delays(30), [](const auto&) { return true; });
  EXPECT_TRUE(found.script.entries.empty());
  EXPECT_EQ(found.replays, 2u);
  EXPECT_TRUE(found.minimal);
}

TEST(shrink, keeps_or_deletes_a_fault_but_does_not_change_it) {
  auto script = delays(3);
  script.entries.push_back(schedule_entry::faulty("a", 1, "drop"));
  script.entries.push_back(schedule_entry::faulty("a", 2, "duplicate"));
  const auto found = shrink(script, [](const auto& s) {
    return std::count(s.entries.begin(), s.entries.end(),
                      schedule_entry::faulty("a", 2, "duplicate")) == 1;
  });
  EXPECT_EQ(to_string(found.script), "a #2 duplicate");
}

TEST(shrink, says_so_when_the_script_does_not_fail) {
  const auto found = shrink(delays(3), [](const auto&) { return false; });
  EXPECT_FALSE(found.reproduced);
  EXPECT_FALSE(found.minimal);
  EXPECT_EQ(found.script, delays(3));
  EXPECT_EQ(found.replays, 1u);
}

TEST(shrink, stops_at_the_limit_with_the_smallest_failing_script_so_far) {
  const auto fails = [](const schedule_script& s) { return delay_of(s, "5") >= 77; };
  const auto enough = shrink(delays(40), fails);
  ASSERT_TRUE(enough.minimal);
  std::size_t entries = 40;
  for (std::uint64_t limit = 1; limit < enough.replays; ++limit) {
    std::uint64_t asked = 0;
    const auto found = shrink(delays(40), [&](const schedule_script& s) {
      ++asked;
      return fails(s);
    }, {limit});
    EXPECT_EQ(found.replays, limit);
    EXPECT_EQ(asked, limit);
    EXPECT_FALSE(found.minimal);
    EXPECT_TRUE(fails(found.script));
    EXPECT_LE(found.script.entries.size(), entries);
    entries = found.script.entries.size();
  }
  EXPECT_EQ(entries, 1u);
  EXPECT_TRUE(shrink(delays(40), fails, {enough.replays}).minimal);
}

TEST(shrink, ends_in_a_minimum_of_random_failures_and_asks_nothing_twice) {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    // Fails when the delays of some random channels add up: many different minima.
    exploration_random random(seed);
    std::set<std::string> relevant;
    for (int i = 0; i < 6; ++i) relevant.insert(std::to_string(random.below(20)));
    const std::uint64_t needed = 1 + random.below(300);
    std::set<std::string> asked;
    const auto fails = [&](const schedule_script& s) {
      std::uint64_t sum = 0;
      for (const auto& name : relevant) sum += delay_of(s, name);
      return sum >= needed;
    };
    const auto found = shrink(delays(20), [&](const schedule_script& s) {
      EXPECT_TRUE(asked.insert(to_string(s)).second) << to_string(s);
      return fails(s);
    });
    ASSERT_EQ(found.reproduced, fails(delays(20)));
    if (!found.reproduced) continue;
    ASSERT_TRUE(found.minimal);
    ASSERT_TRUE(fails(found.script));
    for (std::size_t i = 0; i < found.script.entries.size(); ++i) {
      auto less = found.script;
      if (--less.entries[i].delay == 0)
        less.entries.erase(less.entries.begin() + static_cast<std::ptrdiff_t>(i));
      ASSERT_FALSE(fails(less)) << to_string(found.script);
    }
  }
}

TEST(shrink, takes_every_failing_pct_run_of_a_late_read_down_to_one_line) {
  int failing = 0;
  for (std::uint64_t seed = 0; failing < 60; ++seed) {
    ASSERT_LT(seed, 6'000u);
    late_read run;
    const strategy_draw draw{strategy::pct, 2 + static_cast<std::uint32_t>(seed % 3), 51, seed};
    if (!run.fails(draw)) continue;
    ++failing;
    const auto found = shrink(run.lateness(), [](const schedule_script& script) {
      return late_read().fails(script);
    });
    ASSERT_TRUE(found.reproduced) << to_string(draw);
    EXPECT_EQ(to_string(found.script), "client>read #1 +40") << to_string(draw);
    EXPECT_LE(found.replays, 20u);
  }
}

} // namespace
} // namespace troupe
