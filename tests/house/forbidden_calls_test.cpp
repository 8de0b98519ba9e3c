#include "tests/house/forbidden_calls.hpp"

#include <gtest/gtest.h>

namespace troupe::house {

namespace {

std::vector<finding> check(std::string path, std::string text) {
  return forbidden_calls({std::move(path), std::move(text)}, forbidden_rules());
}

}  // namespace

TEST(forbidden_calls, every_word_of_every_rule_is_found_where_it_is_planted) {
  for (const auto& rule : forbidden_rules()) {
    for (const auto word : rule.words) {
      for (const auto folder : rule.scope) {
        const auto text = "int a;\nx " + std::string(word) + (word.ends_with('(') ? ");" : ";");
        const auto found = check(std::string(folder) + "planted.cpp", text);
        ASSERT_FALSE(found.empty()) << word << " in " << folder;
        EXPECT_EQ(found.front().line, 2u) << word;
      }
    }
  }
}

TEST(forbidden_calls, the_owner_may) {
  EXPECT_TRUE(check("actors/scheduling/clock.cpp", "std::chrono::steady_clock::now();").empty());
  EXPECT_EQ(check("actors/scheduling/lane.cpp", "std::chrono::steady_clock::now();").size(), 1u);
  EXPECT_TRUE(
      check("actors/scheduling/lane.hpp", "std::thread t_; std::condition_variable c_;").empty());
  EXPECT_TRUE(check("actors/scheduling/completion.cpp", "c_.notify_all();").empty());
  EXPECT_EQ(check("actors/stream.cpp", "c_.notify_all();").size(), 1u);
  EXPECT_TRUE(check("actors/scheduling/spawn.hpp", "system.spawn<t>(x);").empty());
  EXPECT_EQ(check("actors/device.cpp", "system.spawn<t>(x);").size(), 1u);
}

TEST(forbidden_calls, comments_strings_and_longer_words_do_not_count) {
  EXPECT_TRUE(check("core/a.cpp", "// std::thread\n/* printf( */ f(\"rand()\");").empty());
  EXPECT_TRUE(check("core/a.cpp", "std::snprintf(b, n, f); operand(); is_detached;").empty());
  EXPECT_TRUE(check("core/a.cpp", "std::this_thread::yield();").empty());
  EXPECT_TRUE(check("core/a.cpp", "std::thread::id who;").empty());
}

TEST(forbidden_calls, a_blank_before_the_parenthesis_hides_nothing) {
  EXPECT_EQ(check("core/a.cpp", "rand ();").size(), 1u);
}

TEST(forbidden_calls, containers_ordered_by_addresses_are_found) {
  const auto found = [](std::string text) {
    return ordered_by_address({"actors/a.cpp", std::move(text)}, {"actors/owner."}).size();
  };
  EXPECT_EQ(found("std::map<const thing*, int> a;"), 1u);
  EXPECT_EQ(found("std::set<std::shared_ptr<thing>> a;"), 1u);
  EXPECT_EQ(found("std::map<caf::actor, int> a; std::set<caf::strong_actor_ptr> b;"), 2u);
  EXPECT_EQ(found("std::map<std::uint64_t, thing*> a; std::vector<thing*> b; // set<int*>"), 0u);
  EXPECT_TRUE(ordered_by_address({"actors/owner.hpp", "std::set<int*> a;"}, {"actors/owner."})
                  .empty());
}

TEST(forbidden_calls, tests_may_read_clocks_and_print) {
  EXPECT_TRUE(check("tests/bench/a.cpp", "steady_clock::now(); std::printf(f);").empty());
}

}  // namespace troupe::house
