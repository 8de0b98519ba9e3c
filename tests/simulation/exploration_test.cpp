#include <gtest/gtest.h>

#include <stdexcept>
#include <string>

#include "troupe/exploring.hpp"
#include "troupe/troupe.hpp"

namespace troupe {
namespace {

using testing::exploration_options;
using testing::explore;
using testing::stage;

// Two streams share a cell; without the event the reader may come first.
struct cell_program {
  bool with_event;

  void operator()(stage& play) const {
    auto ctx = play.runtime().device(0).value().create_context().value();
    auto writer = ctx.create_stream().value();
    auto reader = ctx.create_stream().value();
    auto ready = ctx.create_event().value();
    int cell = 0;
    int seen = -1;
    writer.launch("write", [&cell] { cell = 42; }).or_throw();
    if (with_event) {
      writer.record(ready).or_throw();
      reader.wait(ready).or_throw();
    }
    reader.launch("read", [&cell, &seen] { seen = cell; }).or_throw();
    ctx.synchronize().or_throw();
    if (seen != 42) throw std::runtime_error("the reader saw " + std::to_string(seen));
  }
};

TEST(exploration, K5_a_missing_event_is_found_and_shrinks_to_a_line_that_replays) {
  exploration_options options;
  options.runs = 1'000;
  const auto found = explore(options, cell_program{false});
  ASSERT_TRUE(found.failure) << found.describe();
  SCOPED_TRACE(found.describe() + "\n" + found.failure->trace);
  EXPECT_LE(found.failure->found_after, 200U);
  EXPECT_LE(found.failure->entries, 3U) << found.failure->script;
  EXPECT_NE(found.failure->what.find("the reader saw 0"), std::string::npos);
  for (int i = 0; i < 100; ++i) {
    EXPECT_EQ(testing::replay(options, found.failure->seed, found.failure->script,
                              cell_program{false}),
              "the reader saw 0");
  }
}

TEST(exploration, K5_an_ordered_program_is_right_in_every_order) {
  exploration_options options;
  options.runs = 300;
  options.twice = true;
  const auto found = explore(options, cell_program{true});
  EXPECT_FALSE(found.failure) << found.describe();
  EXPECT_EQ(found.runs, 300U);
  EXPECT_GT(found.distinct_orders, 50U);
}

TEST(exploration, something_outside_the_simulation_that_decides_is_noticed) {
  exploration_options options;
  options.runs = 20;
  options.twice = true;
  int turns = 0;
  const auto found = explore(options, [&turns](stage& play) {
    auto ctx = play.runtime().device(0).value().create_context().value();
    auto s = ctx.create_stream().value();
    for (int i = 0; i <= turns % 2; ++i) s.launch("work", [] {}).or_throw();
    s.synchronize().or_throw();
    ++turns;
  });
  ASSERT_TRUE(found.failure);
  EXPECT_EQ(found.runs, 1U);
}

} // namespace
} // namespace troupe
