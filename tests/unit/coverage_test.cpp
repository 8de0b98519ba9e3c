#include "core/exploration/coverage.hpp"

#include <set>

#include <gtest/gtest.h>

#include "core/exploration/order_hash.hpp"
#include "tests/unit/toy_machine.hpp"

namespace troupe {
namespace {

using testing_support::toy_machine;

struct handled_step {
  const char* channel;
  std::uint64_t ordinal;
  std::uint32_t kind;
  std::uint64_t time;
};

std::uint64_t hash_of(std::initializer_list<handled_step> steps) {
  order_hash hash;
  for (const auto& s : steps) hash.add(s.channel, s.ordinal, s.kind, s.time);
  return hash.value();
}

TEST(order_hash, is_equal_for_equal_steps_and_differs_in_every_part) {
  const auto hash = hash_of({{"a", 1, 2, 3}, {"b", 1, 2, 3}});
  EXPECT_EQ(hash, hash_of({{"a", 1, 2, 3}, {"b", 1, 2, 3}}));
  const std::set<std::uint64_t> distinct{
      hash,
      hash_of({}),
      hash_of({{"a", 1, 2, 3}}),
      hash_of({{"b", 1, 2, 3}, {"a", 1, 2, 3}}), // order
      hash_of({{"c", 1, 2, 3}, {"b", 1, 2, 3}}), // channel
      hash_of({{"a", 2, 2, 3}, {"b", 1, 2, 3}}), // ordinal
      hash_of({{"a", 1, 3, 3}, {"b", 1, 2, 3}}), // kind
      hash_of({{"a", 1, 2, 4}, {"b", 1, 2, 3}}), // time
      hash_of({{"a", 2, 1, 3}, {"b", 1, 2, 3}}), // two numbers swapped
      hash_of({{"a", 1, 2, 3}, {"b", 1, 2, 3}, {"b", 1, 2, 3}}),
  };
  EXPECT_EQ(distinct.size(), 10u);
}

// The value itself: hashes of other processes and older builds are compared with it.
TEST(order_hash, is_the_same_in_every_build) {
  EXPECT_EQ(hash_of({{"client 1>stream 5", 1, 7, 40}}), 122109892953371296u);
}

run_coverage one_message(std::string state, bool after_fault) {
  run_coverage made;
  made.messages[{"stream", std::move(state), "abort_stream", after_fault}] = 1;
  made.pairs[{"stream", "abort_stream", "close_stream"}] = 2;
  return made;
}

TEST(coverage, adds_up_the_messages_of_all_runs) {
  coverage seen;
  seen.add(one_message("idle", false));
  seen.add(one_message("idle", false));
  seen.add(one_message("idle", true));
  EXPECT_EQ(seen.seen().messages.size(), 2u);
  EXPECT_EQ(seen.seen().pairs.begin()->second, 6u);
  EXPECT_NE(seen.describe().find("| stream | idle | abort_stream | 2 | 1 |\n"), std::string::npos);
}

TEST(coverage, lists_what_was_not_seen) {
  coverage seen;
  const std::string line = "  stream, waiting: abort_stream\n";
  EXPECT_NE(seen.describe().find("was not measured"), std::string::npos) << seen.describe();
  EXPECT_EQ(seen.describe().find(line), std::string::npos);
  seen.add(one_message("idle", true));
  EXPECT_NE(seen.describe().find(line), std::string::npos) << seen.describe();
  seen.add(one_message("waiting", true));
  EXPECT_EQ(seen.describe().find(line), std::string::npos);
  EXPECT_NE(seen.describe().find("| stream | waiting | abort_stream | - | 1 |"), std::string::npos);
  EXPECT_NE(seen.describe().find("\n1 of "), std::string::npos);
}

TEST(coverage, counts_distinct_orders_and_the_new_ones_among_the_last) {
  coverage seen;
  EXPECT_EQ(seen.new_in_last(10), 0u);
  EXPECT_TRUE(seen.end_run(5));
  EXPECT_TRUE(seen.end_run(6));
  EXPECT_FALSE(seen.end_run(5));
  EXPECT_TRUE(seen.end_run(0));
  EXPECT_FALSE(seen.end_run(0));
  EXPECT_EQ(seen.runs(), 5u);
  EXPECT_EQ(seen.distinct_orders(), 3u);
  EXPECT_EQ(seen.new_in_last(0), 0u);
  EXPECT_EQ(seen.new_in_last(1), 0u);
  EXPECT_EQ(seen.new_in_last(2), 1u);
  EXPECT_EQ(seen.new_in_last(3), 1u);
  EXPECT_EQ(seen.new_in_last(4), 2u);
  EXPECT_EQ(seen.new_in_last(5), 3u);
  EXPECT_EQ(seen.new_in_last(1'000), 3u);
  EXPECT_EQ(seen.last_new_run(), 4u);
}

TEST(coverage, shows_when_a_small_program_has_been_seen_in_all_its_orders) {
  coverage seen;
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    order_hash hash;
    // Two items on each of three channels: 6! / (2! 2! 2!) orders.
    toy_machine machine([&](toy_machine&, const std::string& channel, std::uint64_t ordinal) {
      hash.add(channel, ordinal, 0, 0);
    });
    for (const char* channel : {"a", "b", "c", "a", "b", "c"}) machine.put(channel);
    (void)machine.run(*make_chooser({strategy::walk, 1, 1, seed}));
    seen.end_run(hash.value());
  }
  // The least likely orders have probability 1 / 3^5 or so: some of them stay unseen.
  EXPECT_GT(seen.distinct_orders(), 80u);
  EXPECT_LE(seen.distinct_orders(), 90u);
  EXPECT_LT(seen.new_in_last(100), 10u);
  EXPECT_GT(seen.new_in_last(400), 80u);
}

} // namespace
} // namespace troupe
