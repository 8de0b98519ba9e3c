#include "core/exploration/chooser.hpp"

#include <algorithm>
#include <array>
#include <set>

#include <gtest/gtest.h>

#include "core/exploration/clog_chooser.hpp"
#include "core/exploration/pct_chooser.hpp"
#include "core/exploration/plain_choosers.hpp"
#include "core/exploration/script_chooser.hpp"
#include "core/exploration/seeded.hpp"
#include "core/exploration/strategy.hpp"
#include "tests/unit/toy_machine.hpp"

namespace troupe {
namespace {

using testing_support::late_read;
using testing_support::toy_machine;

/// `channels` channels that always have something, the same at every step.
std::vector<choice> busy_channels(std::uint32_t channels) {
  std::vector<choice> enabled;
  for (std::uint32_t id = 0; id < channels; ++id) enabled.push_back({id, 1, 0});
  return enabled;
}

/// The channels that `by` runs in steps 1 to `steps`, with all of `enabled` enabled throughout.
std::vector<std::uint32_t> channels_run(chooser& by, std::span<const choice> enabled,
                                        std::uint64_t steps) {
  std::vector<std::uint32_t> ran;
  for (std::uint64_t step = 1; step <= steps; ++step)
    ran.push_back(enabled[by.choose(enabled, step)].channel);
  return ran;
}

std::size_t switches(const std::vector<std::uint32_t>& ran) {
  std::size_t count = 0;
  for (std::size_t i = 1; i < ran.size(); ++i)
    if (ran[i] != ran[i - 1]) ++count;
  return count;
}

TEST(channel_table, numbers_names_by_first_use_and_keeps_them_apart) {
  channel_table names;
  EXPECT_EQ(names.intern("client 1>stream 5"), 0u);
  EXPECT_EQ(names.intern("stream 5>engine 2"), 1u);
  EXPECT_EQ(names.intern("client 1>stream 5"), 0u);
  EXPECT_EQ(names.name(1), "stream 5>engine 2");
  EXPECT_EQ(names.find("stream 5>engine 2"), 1u);
  EXPECT_FALSE(names.find("stream 5>engine 3"));
  EXPECT_EQ(names.size(), 2u);
}

TEST(chooser, fifo_takes_the_earliest_arrival_and_the_lower_channel_of_equals) {
  fifo_chooser fifo;
  EXPECT_EQ(fifo.choose(std::vector<choice>{{0, 1, 7}, {3, 9, 5}, {2, 4, 5}, {1, 1, 6}}, 8), 2u);
  EXPECT_EQ(fifo.choose(std::vector<choice>{{5, 1, 3}}, 8), 0u);
}

TEST(chooser, walk_takes_every_choice_equally_often) {
  walk_chooser walk(3);
  const auto enabled = busy_channels(5);
  std::array<int, 5> taken{};
  for (const auto channel : channels_run(walk, enabled, 10'000)) ++taken.at(channel);
  for (const int count : taken) EXPECT_NEAR(count, 2'000, 200); // 5 standard deviations
}

TEST(chooser, pct_of_depth_1_runs_the_channel_of_highest_rank_for_ever) {
  std::array<int, 4> first{};
  for (std::uint64_t seed = 0; seed < 2'000; ++seed) {
    pct_chooser pct(seed, 1, 50);
    const auto ran = channels_run(pct, busy_channels(4), 100);
    ASSERT_EQ(switches(ran), 0u);
    ++first.at(ran.front());
  }
  for (const int count : first) EXPECT_NEAR(count, 500, 100); // all ranks are as likely
}

TEST(chooser, pct_ranks_do_not_depend_on_the_order_in_which_channels_appear) {
  const auto forward = busy_channels(6);
  const std::vector<choice> backward(forward.rbegin(), forward.rend());
  const auto end = std::vector<choice>(forward.begin() + 2, forward.end());
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    pct_chooser a(seed, 3, 20);
    pct_chooser b(seed, 3, 20);
    EXPECT_EQ(channels_run(a, forward, 30), channels_run(b, backward, 30));
    // The best of all is the best of any part it is in.
    pct_chooser c(seed, 1, 20);
    pct_chooser d(seed, 1, 20);
    const auto best = channels_run(c, forward, 1).front();
    if (best >= 2) {
      EXPECT_EQ(channels_run(d, end, 1).front(), best);
    }
  }
}

TEST(chooser, pct_drops_the_running_channel_for_good_at_depth_minus_1_steps) {
  constexpr std::uint64_t expected_steps = 20;
  std::set<std::size_t> drops_at;
  for (std::uint64_t seed = 0; seed < 1'000; ++seed) {
    pct_chooser depth_2(seed, 2, expected_steps);
    const auto ran = channels_run(depth_2, busy_channels(8), 100);
    ASSERT_LE(switches(ran), 1u);
    const auto drop = std::adjacent_find(ran.begin(), ran.end(), std::not_equal_to<>());
    // No switch to be seen: the drop came before the first step.
    drops_at.insert(drop == ran.end() ? 1u : static_cast<std::size_t>(drop - ran.begin()) + 2);

    pct_chooser depth_4(seed, 4, expected_steps);
    const auto deeper = channels_run(depth_4, busy_channels(8), 100);
    ASSERT_LE(switches(deeper), 3u);
    const std::set<std::uint32_t> distinct(deeper.begin(), deeper.end());
    ASSERT_EQ(distinct.size(), switches(deeper) + 1); // none came back
  }
  EXPECT_EQ(drops_at.size(), expected_steps); // at every step, each at some seed
  EXPECT_EQ(*drops_at.rbegin(), expected_steps);
}

TEST(chooser, pct_puts_a_drop_below_the_drops_before_it) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    pct_chooser pct(seed, 3, 10);
    const auto both = busy_channels(2);
    const auto ran = channels_run(pct, both, 40);
    // Two channels, two drops: the second drop gives way to the channel that was dropped first.
    ASSERT_EQ(ran.back(), pct_chooser(seed, 1, 10).choose(both, 1));
  }
}

TEST(chooser, pct_does_a_drop_late_if_its_step_was_left_out) {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    pct_chooser asked_always(seed, 2, 20);
    pct_chooser asked_late(seed, 2, 20);
    const auto enabled = busy_channels(3);
    EXPECT_EQ(channels_run(asked_always, enabled, 30).back(),
              enabled[asked_late.choose(enabled, 30)].channel);
  }
}

TEST(chooser, clog_holds_channels_for_a_while_and_frees_them_one_by_one) {
  std::size_t fifo_steps = 0;
  std::size_t longest = 0;
  std::set<std::uint32_t> held;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    clog_chooser clog(seed, 64);
    std::size_t length = 0;
    for (const auto channel : channels_run(clog, busy_channels(5), 500)) {
      // The lowest channel is first come; whenever another one runs, those below it are held.
      length = channel == 0 ? 0 : length + 1;
      fifo_steps += channel == 0 ? 1u : 0u;
      longest = std::max(longest, length);
      for (std::uint32_t below = 0; below < channel; ++below) held.insert(below);
      if (channel > 0) held.insert(channel + 100);
    }
  }
  EXPECT_GT(fifo_steps, 200u * 500 / 4); // mostly free
  EXPECT_LT(fifo_steps, 200u * 500 * 95 / 100);
  EXPECT_GT(longest, 40u); // for about as long as a run
  EXPECT_LT(longest, 500u);
  EXPECT_TRUE(held.count(103)); // channels 0, 1 and 2 were held together
}

TEST(chooser, clog_holds_one_or_several_channels_at_once) {
  std::array<int, 3> ran{};
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    // At the first step all that is held was held by one clog.
    clog_chooser clog(seed, 1'000'000);
    ++ran.at(channels_run(clog, busy_channels(3), 1).front());
  }
  EXPECT_GT(ran[0], 150);
  EXPECT_GT(ran[1], 10); // 0 is held
  EXPECT_GT(ran[2], 10); // 0 and 1 are
}

TEST(chooser, clog_still_runs_what_is_held_when_nothing_else_is_enabled) {
  const std::vector<choice> single{{2, 1, 0}};
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    clog_chooser clog(seed, 1);
    for (std::uint64_t step = 1; step < 100; ++step) ASSERT_EQ(clog.choose(single, step), 0u);
  }
}

TEST(chooser, clog_frees_channels_in_random_order) {
  // With both held, the one that is freed first runs first; either must happen.
  std::set<std::vector<std::uint32_t>> orders;
  for (std::uint64_t seed = 0; seed < 500; ++seed) {
    clog_chooser clog(seed, 100);
    auto ran = channels_run(clog, busy_channels(3), 100);
    ran.erase(std::unique(ran.begin(), ran.end()), ran.end());
    orders.insert(ran);
  }
  EXPECT_TRUE(orders.count({0, 2, 1, 0})) << "1 was freed before 0";
  EXPECT_TRUE(orders.count({0, 2, 0})) << "0 was freed before 1, or with it";
}

schedule_script late_items(std::initializer_list<schedule_entry> entries) { return {entries}; }

TEST(chooser, script_lets_an_item_go_when_its_delay_has_passed) {
  channel_table names;
  names.intern("a");
  names.intern("b");
  script_chooser script(late_items({schedule_entry::late("a", 2, 3)}), &names);
  const std::vector<choice> enabled{{0, 2, 10}, {1, 5, 11}};
  // Arrived at 10: steps 11, 12 and 13 have to pass.
  EXPECT_EQ(script.choose(enabled, 12), 1u);
  EXPECT_EQ(script.choose(enabled, 13), 1u);
  EXPECT_EQ(script.choose(enabled, 14), 0u);
}

TEST(chooser, script_delays_the_named_item_only) {
  channel_table names;
  names.intern("a");
  names.intern("b");
  const auto lines = late_items({schedule_entry::late("a", 2, 9), schedule_entry::late("c", 1, 9),
                                 schedule_entry::faulty("a", 3, "drop"),
                                 schedule_entry::faulty("a", 2, "drop")});
  script_chooser script(lines, &names);
  EXPECT_EQ(script.choose(std::vector<choice>{{0, 1, 0}, {1, 1, 1}}, 2), 0u);
  EXPECT_EQ(script.choose(std::vector<choice>{{0, 2, 0}, {1, 2, 1}}, 2), 1u);
  EXPECT_EQ(script.choose(std::vector<choice>{{0, 3, 0}, {1, 2, 1}}, 2), 0u);
  // A channel that is named for the first time in the middle of the run.
  names.intern("c");
  EXPECT_EQ(script.choose(std::vector<choice>{{2, 1, 0}, {1, 1, 1}}, 2), 1u);
}

TEST(chooser, script_takes_the_delay_that_ends_first_when_all_are_delayed) {
  channel_table names;
  for (const char* name : {"a", "b", "c"}) names.intern(name);
  script_chooser script(late_items({schedule_entry::late("a", 1, 50),
                                    schedule_entry::late("b", 1, 20),
                                    schedule_entry::late("c", 1, ~std::uint64_t{0})}),
                        &names);
  EXPECT_EQ(script.choose(std::vector<choice>{{0, 1, 0}, {1, 1, 5}, {2, 1, 0}}, 10), 1u);
  EXPECT_EQ(script.choose(std::vector<choice>{{0, 1, 0}, {2, 1, 0}}, 10), 0u);
  EXPECT_EQ(script.choose(std::vector<choice>{{2, 1, 0}}, 10), 0u);
}

TEST(strategy, rotates_with_the_seed_pct_first) {
  std::vector<std::string> drawn;
  for (std::uint64_t seed = 0; seed < 7; ++seed)
    drawn.push_back(to_string(draw_strategy(seed, 60)));
  EXPECT_EQ(drawn, (std::vector<std::string>{
                       "pct depth=2 steps=60 seed=0", "pct depth=3 steps=60 seed=1",
                       "pct depth=4 steps=60 seed=2", "clog steps=60 seed=3", "walk seed=4", "fifo",
                       "pct depth=2 steps=60 seed=6"}));
}

TEST(strategy, makes_the_chooser_it_names_with_the_seed_it_names) {
  const auto enabled = busy_channels(4);
  for (const auto kind : {strategy::pct, strategy::clog, strategy::walk, strategy::fifo}) {
    std::set<std::vector<std::uint32_t>> runs;
    for (std::uint64_t seed = 0; seed < 40; ++seed) {
      const strategy_draw draw{kind, 3, 20, seed};
      const auto once = make_chooser(draw);
      const auto again = make_chooser(draw);
      EXPECT_EQ(once->name(), to_string(kind));
      const auto ran = channels_run(*once, enabled, 60);
      EXPECT_EQ(ran, channels_run(*again, enabled, 60));
      runs.insert(ran);
    }
    EXPECT_EQ(runs.size() == 1, kind == strategy::fifo) << to_string(kind);
  }
  const channel_table names;
  EXPECT_STREQ(make_chooser(schedule_script{}, &names)->name(), "script");
}

TEST(strategy, makes_pct_as_deep_as_drawn) {
  for (const std::uint32_t depth : {2u, 3u, 4u}) {
    std::size_t most = 0;
    for (std::uint64_t seed = 0; seed < 50; ++seed) {
      const auto pct = make_chooser({strategy::pct, depth, 40, seed});
      most = std::max(most, switches(channels_run(*pct, busy_channels(9), 80)));
    }
    EXPECT_EQ(most, depth - 1);
  }
}

TEST(strategy, pct_finds_a_long_stretch_that_a_random_walk_does_not) {
  int by_walk = 0;
  int by_pct = 0;
  int by_clog = 0;
  for (std::uint64_t seed = 0; seed < 2'000; ++seed) {
    by_walk += late_read().fails({strategy::walk, 1, 51, seed}) ? 1 : 0;
    by_pct += late_read().fails({strategy::pct, 2, 51, seed}) ? 1 : 0;
    by_clog += late_read().fails({strategy::clog, 1, 51, seed}) ? 1 : 0;
  }
  EXPECT_EQ(by_walk, 0);
  // The read ranks lowest of three channels, and the copy drops at 10 of 51 steps: 130 by the book.
  EXPECT_NEAR(by_pct, 130, 55); // 5 standard deviations
  EXPECT_GT(by_clog, 10);
}

} // namespace
} // namespace troupe
