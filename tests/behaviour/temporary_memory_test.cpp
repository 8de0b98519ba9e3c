// Temporary blocks: released when memory is short and nothing pending uses them, never reused in
// silence (S7); pages and alignment (E6).

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "tests/support/stage.hpp"

namespace troupe {
namespace {

constexpr std::size_t mib = std::size_t{1} << 20;
constexpr std::size_t unit = 2 * mib;

class temporary_memory : public stage_test {
protected:
  temporary_memory() : stage_test(test_options(1)) {}

  [[nodiscard]] temporary_buffer<char> take(std::size_t bytes) const {
    return ctx.allocate_temporary<char>(bytes).value();
  }
  [[nodiscard]] std::uint64_t used() const { return dev.memory().value().used; }

  const std::size_t total = small_profile().memory_bytes;
  signal hold = rt.create_signal();
};

TEST_F(temporary_memory, serves_as_any_device_memory) {
  const auto block = take(1000);
  EXPECT_EQ(block.size(), 1000U);
  EXPECT_EQ(used(), unit);
  EXPECT_EQ(ctx.memory().value().used, unit);
  std::vector<char> host(1000, 5);
  std::vector<char> back(1000, 1);
  ASSERT_THAT(ctx.copy(back, block), IsOk());
  EXPECT_EQ(back, std::vector<char>(1000, 0)) << "zero at first";
  ASSERT_THAT(s.copy(block, host), IsOk());
  ASSERT_THAT(s.launch("add", [](gsl::span<char> all) {
    for (auto& each : all) ++each;
  }, block), IsOk());
  ASSERT_THAT(s.copy(back, block), IsOk());
  EXPECT_EQ(back, std::vector<char>(1000, 6));
  EXPECT_FALSE(block.released());
  EXPECT_THAT(ctx.allocate_temporary<char>(0), HasCode(code::bad_argument));
  EXPECT_THAT(ctx.allocate_temporary<char>(SIZE_MAX), HasCode(code::memory_allocation));
}

TEST_F(temporary_memory, S7_makes_room_when_the_device_is_short_the_least_recently_used_first) {
  const auto kept = ctx.allocate<char>(total / 2).value();
  const auto first = take(total / 8);
  const auto second = take(total / 8);
  const auto third = take(total / 8);
  ASSERT_THAT(s.fill_bytes(first, 1), IsOk());
  ASSERT_THAT(s.fill_bytes(second, 1), IsOk());
  ASSERT_THAT(s.synchronize(), IsOk());
  const auto more = ctx.allocate<char>(total / 8 + total / 16);
  ASSERT_THAT(more, IsOk());
  EXPECT_FALSE(first.released());
  EXPECT_FALSE(second.released());
  EXPECT_TRUE(third.released()) << "the others were used after it";
  EXPECT_THAT(s.fill_bytes(kept, 2), IsOk()) << "what is persistent stays";
  EXPECT_THAT(s.synchronize(), IsOk());
}

TEST_F(temporary_memory, S7_what_pending_work_uses_is_not_released) {
  const auto first = take(total / 2);
  const auto second = take(total / 4);
  ASSERT_THAT(s.wait(hold), IsOk());
  ASSERT_THAT(s.launch("late", [](gsl::span<char> all) { all[0] = 7; }, first), IsOk());
  auto more = ctx.allocate<char>(total / 2 + unit);
  EXPECT_THAT(more, HasCode(code::memory_allocation));
  EXPECT_FALSE(first.released());
  EXPECT_FALSE(second.released()) << "it would not be enough";
  hold.raise();
  ASSERT_THAT(s.synchronize(), IsOk());
  char seen = 0;
  ASSERT_THAT(ctx.copy(gsl::span<char>(&seen, 1), first.span().subspan(0, 1)), IsOk());
  EXPECT_EQ(seen, 7);
  more = ctx.allocate<char>(total / 2 + unit);
  EXPECT_THAT(more, IsOk());
  EXPECT_TRUE(first.released() || second.released());
}

TEST_F(temporary_memory, S7_an_idle_block_goes_though_one_in_use_was_used_before_it) {
  const auto at_work = take(total / 2);
  ASSERT_THAT(s.wait(hold), IsOk());
  ASSERT_THAT(s.launch("late", [](gsl::span<char> all) { all[0] = 7; }, at_work), IsOk());
  const auto idle = take(total / 4);
  EXPECT_THAT(ctx.allocate<char>(total / 4 + unit), IsOk());
  EXPECT_FALSE(at_work.released());
  EXPECT_TRUE(idle.released());
  hold.raise();
  EXPECT_THAT(s.synchronize(), IsOk());
}

TEST_F(temporary_memory, S7_of_several_uses_in_a_stream_the_last_counts) {
  const auto block = take(total / 2);
  const auto add = [](gsl::span<char> all) { ++all[0]; };
  ASSERT_THAT(s.launch("early", add, block), IsOk());
  ASSERT_THAT(s.wait(hold), IsOk());
  ASSERT_THAT(s.launch("late", add, block), IsOk());
  await([this] { return s.counters().completed == 1; });
  EXPECT_THAT(ctx.allocate<char>(total / 4 * 3), HasCode(code::memory_allocation));
  EXPECT_FALSE(block.released());
  hold.raise();
  EXPECT_THAT(s.synchronize(), IsOk());
}

TEST_F(temporary_memory, S7_a_released_block_says_so_wherever_it_is_touched) {
  const auto block = take(total / 2);
  graph g("names it");
  (void)g.add_fill(block, 3).value();
  const auto run = executable_graph::instantiate(ctx, g).value();
  auto most = ctx.allocate<char>(total / 4 * 3).value();
  ASSERT_TRUE(block.released());
  std::vector<char> host(total / 2);
  const auto says = SaysThat("which was released when memory was short");
  for (int round = 0; round < 2; ++round) {
    EXPECT_THAT(s.fill_bytes(block, 1), says);
    EXPECT_THAT(s.copy(block, host), says);
    EXPECT_THAT(s.copy(host, block), says);
    EXPECT_THAT(ctx.copy(host, block), says);
    EXPECT_THAT(s.launch("k", [](gsl::span<char>) {}, block), says);
    EXPECT_THAT(s.launch("k", [](gsl::span<const char>) {}, block.span()), says);
    EXPECT_THAT(run.launch(s), HasCode(code::invalid_parameter));
  }
  EXPECT_EQ(s.counters().submitted, 0U);
  EXPECT_THAT(block.renew(), HasCode(code::memory_allocation)) << "there is no room yet";
  EXPECT_TRUE(block.released());
  ASSERT_THAT(most.free(), IsOk());
  const auto address = block.data();
  ASSERT_THAT(block.renew(), IsOk());
  EXPECT_THAT(block.renew(), IsOk()) << "it has memory";
  EXPECT_EQ(block.data(), address);
  EXPECT_FALSE(block.released());
  host[0] = 1;
  ASSERT_THAT(s.copy(host, block), IsOk());
  EXPECT_EQ(host, std::vector<char>(total / 2, 0)) << "the contents are gone";
  EXPECT_THAT(run.launch(s), IsOk());
  EXPECT_THAT(s.synchronize(), IsOk());
}

TEST_F(temporary_memory, S7_nobody_else_gets_the_addresses_of_a_released_block) {
  const auto block = take(total / 2);
  const auto most = ctx.allocate<char>(total / 4 * 3).value();
  ASSERT_TRUE(block.released());
  const auto small = take(1);
  const auto apart = [&](const char* other, std::size_t bytes) {
    return other + bytes <= block.data() || other >= block.data() + block.size();
  };
  EXPECT_TRUE(apart(most.data(), most.size()));
  EXPECT_TRUE(apart(small.data(), unit));
}

TEST_F(temporary_memory, S7_the_limit_of_a_context_releases_its_own_blocks_only) {
  context_options limited;
  limited.memory_limit_bytes = 8 * unit;
  const auto small = dev.create_context(limited).value();
  const auto others = take(unit);
  const auto mine = small.allocate_temporary<char>(6 * unit).value();
  ASSERT_THAT(small.allocate<char>(4 * unit), IsOk());
  EXPECT_TRUE(mine.released());
  EXPECT_FALSE(others.released());
}

TEST_F(temporary_memory, a_pool_and_other_temporaries_make_room_too) {
  const auto first = take(total / 4 * 3);
  const auto second = take(total / 2);
  EXPECT_TRUE(first.released());
  const auto pool = ctx.create_pool().value();
  ASSERT_THAT(pool.allocate<char>(s, total / 4 * 3), IsOk());
  EXPECT_TRUE(second.released());
}

TEST_F(temporary_memory, one_that_ends_in_use_is_given_back_when_its_work_has_ended) {
  ASSERT_THAT(s.wait(hold), IsOk());
  int seen = 0;
  {
    const auto block = ctx.allocate_temporary<int>(8).value();
    ASSERT_THAT(s.launch("late", [&seen](gsl::span<int> all) { seen = all[7] = 7; }, block), IsOk());
  }
  EXPECT_EQ(used(), unit);
  hold.raise();
  ASSERT_THAT(s.synchronize(), IsOk());
  EXPECT_EQ(seen, 7);
  EXPECT_EQ(used(), 0U);
  { const auto idle = take(1); }
  await([&] { return used() == 0; });
}

TEST_F(temporary_memory, handles_may_outlive_context_and_runtime) {
  const auto other = dev.create_context().value();
  const auto of_other = other.allocate_temporary<char>(1).value();
  ASSERT_THAT(other.destroy(), IsOk());
  await([&] { return used() == 0; });
  EXPECT_THAT(of_other.renew(), HasCode(code::context_released));
  const auto block = take(1);
  ASSERT_THAT(rt.shutdown(), IsOk());
  EXPECT_THAT(block.renew(), HasCode(code::uninitialized));
}

TEST_F(temporary_memory, E6_huge_pages_are_aligned_and_counted_whole) {
  const auto few = ctx.allocate<char>(100).value();
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(few.data()) % 64, 0U);
  const auto huge =
      ctx.allocate<char>(unit + 1, initial::cleared, page_kind::huge_only).value();
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(huge.data()) % unit, 0U);
  EXPECT_EQ(used(), 512 + 2 * unit);
  const auto between = ctx.allocate<char>(100).value();
  EXPECT_LT(between.data(), huge.data()) << "what lies in front of the page is not lost";
}

TEST_F(temporary_memory, E6_huge_only_fails_without_a_page_where_huge_first_falls_back) {
  std::vector<buffer<char>> blocks;
  const auto pages = total / unit;
  for (std::size_t i = 0; i < pages; ++i) {
    blocks.push_back(ctx.allocate<char>(unit / 2).value()); // one half of each page
    blocks.push_back(ctx.allocate<char>(unit / 2).value());
  }
  for (std::size_t i = 0; i < blocks.size(); i += 2) ASSERT_THAT(blocks[i].free(), IsOk());
  const auto refused = ctx.allocate<char>(unit / 4, initial::unspecified, page_kind::huge_only);
  EXPECT_THAT(refused, HasCode(code::memory_allocation));
  EXPECT_THAT(refused, SaysThat("on huge pages"));
  const auto before = used();
  const auto small = ctx.allocate<char>(unit / 4, initial::unspecified, page_kind::huge_first);
  ASSERT_THAT(small, IsOk());
  EXPECT_EQ(used(), before + unit / 4);
}

} // namespace
} // namespace troupe
