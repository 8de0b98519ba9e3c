#include "core/exploration/schedule_script.hpp"

#include <algorithm>

#include <gtest/gtest.h>

#include "core/exploration/seeded.hpp"
#include "tests/support/status_matchers.hpp"
#include "tests/unit/toy_machine.hpp"

namespace troupe {
namespace {

using testing::HasSubstr;
using testing_support::toy_machine;

schedule_script sample() {
  return {{schedule_entry::late("client 1>stream 5", 1, 40),
           schedule_entry::faulty("engine 2>stream 5", 3, "drop"),
           schedule_entry::faulty("client 1>stream 5", 1, "fail=507015")}};
}

std::string refusal(std::string_view line) {
  const auto parsed = parse_schedule_script(line);
  EXPECT_THAT(parsed, HasCode(code::invalid_parameter)) << line;
  return parsed.error().message();
}

TEST(schedule_script, prints_to_one_line) {
  EXPECT_EQ(to_string(sample()), "client 1>stream 5 #1 +40; engine 2>stream 5 #3 drop; "
                                 "client 1>stream 5 #1 fail=507015");
  EXPECT_EQ(to_string(schedule_script{}), "");
}

TEST(schedule_script, reads_what_it_prints) {
  EXPECT_EQ(parse_schedule_script(to_string(sample())).value(), sample());
  EXPECT_EQ(parse_schedule_script("").value(), schedule_script{});
  EXPECT_EQ(parse_schedule_script(" \n").value(), schedule_script{});
}

TEST(schedule_script, allows_blanks_between_the_parts_and_none) {
  const schedule_script expected{{schedule_entry::late("a  b", 2, 3),
                                  schedule_entry::faulty("c", 18446744073709551615U, "corrupt")}};
  EXPECT_EQ(parse_schedule_script("  a  b\t# 2  + 3 ;c#18446744073709551615 corrupt \n").value(),
            expected);
  EXPECT_EQ(parse_schedule_script("a  b#2+3;c#18446744073709551615corrupt").value(), expected);
}

TEST(schedule_script, keeps_any_name_and_leaves_no_byte_that_quoting_would_change) {
  std::string every_byte = " ";
  for (int byte = 1; byte < 256; ++byte) every_byte += static_cast<char>(byte);
  every_byte += '\0';
  every_byte += ' ';
  const schedule_script script{{schedule_entry::late(every_byte, 1, 1),
                                schedule_entry::late(" ", 1, 1),
                                schedule_entry::late("100% #1; +5", 2, 7)}};
  const auto line = to_string(script);
  EXPECT_EQ(parse_schedule_script(line).value(), script);
  EXPECT_TRUE(std::none_of(line.begin(), line.end(), [](char c) {
    return c == '"' || c == '\'' || c == '\\' || (c >= 0 && c < ' ');
  }));
  EXPECT_THAT(line, HasSubstr("100%25 %231%3B +5 #2 +7"));
}

TEST(schedule_script, names_the_column_and_what_is_expected_there) {
  const std::pair<const char*, const char*> cases[] = {
      {"a", "column 2: '#' and an ordinal are expected after the name of a channel, but the line"},
      {"a; b #1 +1", "column 2: '#' and an ordinal"},
      {"#1 drop", "column 1: the name of a channel is expected, found '#1 drop'"},
      {"a #", "column 4: an ordinal of 1 or more is expected after '#', but the line ends"},
      {"a #0 drop", "column 4: an ordinal of 1 or more is expected after '#', found '0 drop'"},
      {"a #x", "column 4: an ordinal"},
      {"a #18446744073709551616 drop", "column 4: a smaller number is expected"},
      {"a #1", "column 5: '+' and a delay, or a fault word such as 'drop' is expected, but"},
      {"a #1 40", "column 6: '+' and a delay"},
      {"a #1 Drop", "column 6: '+' and a delay"},
      {"a #1 +", "column 7: a delay of 1 step or more is expected after '+'"},
      {"a #1 +0", "column 7: a delay"},
      {"a #1 +-1", "column 7: a delay"},
      {"a #1 +3 drop", "column 9: ';' or the end is expected, found 'drop'"},
      {"a #1 drop, b #1 drop", "column 10: ';' or the end"},
      {"a #1 drop;", "column 11: an entry is expected after ';', but the line ends"},
      {"a #1 drop; ; b #1 drop", "column 12: the name of a channel is expected"},
      {"a #1 +3; b #1 +1; a #1 +4", "column 19: an item is expected that has no delay yet"},
      {"a #1 drop; a #1 drop", "column 12: an item is expected that lacks this fault"},
      {"a%4 #1 drop", "column 2: two digits of 0-9 and A-F are expected after '%'"},
      {"a%zz #1 drop", "column 2: two digits"},
      {"%", "column 1: two digits"},
  };
  for (const auto& [line, message] : cases) {
    EXPECT_THAT(refusal(line), HasSubstr(std::string("schedule script, ") + message)) << line;
  }
}

TEST(schedule_script, reads_back_random_scripts_and_survives_every_damage) {
  constexpr std::string_view bytes = "ab #;+%1.=\t\"";
  exploration_random random(1);
  for (int round = 0; round < 300; ++round) {
    schedule_script script;
    for (std::uint64_t i = 1 + random.below(4); i > 0; --i) {
      std::string name;
      for (std::uint64_t n = 1 + random.below(8); n > 0; --n)
        name += bytes[static_cast<std::size_t>(random.below(bytes.size()))];
      // Distinct ordinals, as no item has two delays.
      const std::uint64_t ordinal = i + 10 * random.below(1'000);
      script.entries.push_back(random.below(2) == 0
                                   ? schedule_entry::late(name, ordinal, 1 + random.next() / 2)
                                   : schedule_entry::faulty(name, ordinal, "f_0=9"));
    }
    auto line = to_string(script);
    ASSERT_EQ(parse_schedule_script(line).value(), script) << line;
    line[static_cast<std::size_t>(random.below(line.size()))] =
        bytes[static_cast<std::size_t>(random.below(bytes.size()))];
    const auto damaged = parse_schedule_script(line);
    if (damaged) {
      ASSERT_EQ(parse_schedule_script(to_string(damaged.value())).value(), damaged.value());
    }
  }
}

/// A program drawn from a seed. What an item does depends on everything handled before it, so a
/// single different choice shows in all that follows: it puts in items on channels old and new,
/// some of them made for the first time in an order that depends on the schedule, and closes or
/// opens channels.
struct random_program {
  explicit random_program(std::uint64_t seed) : state(scramble(seed)) {
    exploration_random random(seed);
    channels = 2 + random.below(6);
    budget = 20 + random.below(100);
    for (std::uint64_t i = 0; i < channels; ++i)
      if (i == 0 || random.below(2) == 0) put(machine, i);
  }

  void put(toy_machine& to, std::uint64_t channel) const {
    to.put("channel " + std::to_string(channel));
  }

  void handle(toy_machine& to, const std::string& channel, std::uint64_t ordinal) {
    for (const char c : channel) state = scramble(state ^ static_cast<unsigned char>(c));
    state = scramble(state ^ ordinal);
    exploration_random random(state);
    for (std::uint64_t i = random.below(4); i > 0 && budget > 0; --i, --budget)
      put(to, random.below(channels));
    const auto other = "channel " + std::to_string(random.below(channels));
    switch (random.below(6)) {
      case 0: return to.close(other);
      case 1: return to.open(other);
      case 2: return to.open(channel);
      default: return;
    }
  }

  std::uint64_t state;
  std::uint64_t channels = 0;
  std::uint64_t budget = 0;
  toy_machine machine{[this](toy_machine& to, const std::string& channel, std::uint64_t ordinal) {
    handle(to, channel, ordinal);
  }};
};

TEST(lateness_recorder, writes_scripts_that_replay_every_strategy_exactly) {
  std::size_t steps = 0;
  std::size_t entries = 0;
  int unlike_fifo = 0;
  for (std::uint64_t seed = 0; seed < 1'200; ++seed) {
    random_program original(seed / 6);
    const auto draw = draw_strategy(seed, 80);
    const auto order = original.machine.run(*make_chooser(draw));
    const auto script = original.machine.lateness();

    random_program replayed(seed / 6);
    const auto again = replayed.machine.run(*make_chooser(script, &replayed.machine.names()));
    ASSERT_EQ(order, again) << to_string(draw) << "\n" << to_string(script);
    ASSERT_EQ(replayed.state, original.state);
    ASSERT_EQ(replayed.machine.lateness(), script); // it is late in the same way, too

    random_program plain(seed / 6);
    const bool differs = plain.machine.run(*make_chooser(strategy_draw{})) != order;
    ASSERT_EQ(script.entries.empty(), !differs) << to_string(draw);
    unlike_fifo += differs ? 1 : 0;
    steps += order.size();
    entries += script.entries.size();
  }
  EXPECT_GT(unlike_fifo, 700); // or the test would prove nothing
  EXPECT_GT(steps, 1'200u * 20);
  EXPECT_LT(entries, steps / 2); // sparse
}

TEST(lateness_recorder, replays_a_run_that_was_cut_short_up_to_the_cut) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    random_program original(seed);
    const auto order = original.machine.run(*make_chooser({strategy::pct, 3, 40, seed}), 25);
    const auto script = original.machine.lateness();
    random_program replayed(seed);
    const auto again = replayed.machine.run(*make_chooser(script, &replayed.machine.names()), 25);
    ASSERT_EQ(order, again) << to_string(script);
  }
}

TEST(lateness_recorder, delays_an_item_to_the_last_step_that_passed_it_over_and_no_further) {
  channel_table names;
  names.intern("a");
  names.intern("b");
  lateness_recorder recorder;
  const std::vector<choice> both{{0, 1, 2}, {1, 1, 3}};
  recorder.record(both, 1, 4);
  recorder.record(std::vector<choice>{{0, 1, 2}, {1, 2, 4}}, 1, 5);
  // An item that arrived earlier goes first, which makes nobody late.
  recorder.record(std::vector<choice>{{0, 1, 2}, {1, 3, 1}}, 1, 6);
  recorder.record(std::vector<choice>{{0, 1, 2}}, 0, 9);
  EXPECT_EQ(to_string(recorder.script(names)), "a #1 +3");
}

TEST(lateness_recorder, tells_the_items_of_a_channel_apart_and_counts_from_each_ones_arrival) {
  channel_table names;
  for (const char* name : {"a", "b", "c"}) names.intern(name);
  lateness_recorder recorder;
  recorder.record(std::vector<choice>{{0, 1, 0}, {1, 1, 0}, {2, 1, 0}}, 2, 1);
  recorder.record(std::vector<choice>{{0, 1, 0}, {1, 1, 0}}, 0, 2);
  recorder.record(std::vector<choice>{{0, 2, 1}, {1, 1, 0}}, 1, 3);
  recorder.record(std::vector<choice>{{0, 2, 1}, {1, 2, 3}}, 1, 4);
  EXPECT_EQ(to_string(recorder.script(names)), "a #1 +1; b #1 +1; a #2 +3");
}

} // namespace
} // namespace troupe
