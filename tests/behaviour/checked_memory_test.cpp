// The option `checked_memory`: wrong uses of device memory become diagnostics that name the task, the
// block and the place (D6, E6).

#include <algorithm>
#include <string>
#include <vector>

#include "tests/support/stage.hpp"

namespace troupe {
namespace {

using kind = diagnostic::kind;

runtime_options checked_options() {
  auto made = test_options(1);
  made.checked_memory = 1;
  return made;
}

class checked_memory : public stage_test {
protected:
  checked_memory() : stage_test(checked_options()) {}

  // What the diagnostics say that has not been looked at yet.
  std::vector<diagnostic> news() {
    auto all = rt.diagnostics();
    std::vector<diagnostic> made(all.begin() + static_cast<std::ptrdiff_t>(seen_), all.end());
    seen_ = all.size();
    return made;
  }
  std::string only(kind what) {
    const auto all = news();
    EXPECT_EQ(all.size(), 1U);
    if (all.empty()) return {};
    EXPECT_EQ(all[0].what, what) << all[0].message;
    return all[0].message;
  }

private:
  std::size_t seen_ = 0;
};

TEST_F(checked_memory, a_right_program_is_told_nothing) {
  const auto pool = ctx.create_pool().value();
  const std::vector<int> host(1000, 3);
  std::vector<int> back(1000);
  for (int round = 0; round < 20; ++round) {
    const auto block = ctx.allocate<int>(1000).value();
    const auto piece = pool.allocate<int>(s, 1000).value();
    ASSERT_THAT(s.copy(block, host), IsOk());
    ASSERT_THAT(s.copy(piece, block), IsOk());
    ASSERT_THAT(s.launch("add", [](gsl::span<int> to, gsl::span<const int> from) {
      for (std::size_t i = 0; i < to.size(); ++i) to[i] += from[i];
    }, piece, block), IsOk());
    ASSERT_THAT(s.copy(back, piece), IsOk());
    ASSERT_EQ(back, std::vector<int>(1000, 6));
    const auto zeros = ctx.allocate<int>(1000, initial::cleared).value();
    ASSERT_THAT(ctx.copy(back, zeros), IsOk());
    ASSERT_THAT(s.synchronize(), IsOk());
  }
  for (const auto& each : news()) ADD_FAILURE() << each.message;
}

TEST_F(checked_memory, D6_what_nothing_has_written_has_a_pattern_and_its_read_is_reported) {
  const auto block = ctx.allocate<unsigned char>(100).value();
  std::vector<unsigned char> back(100);
  ASSERT_THAT(ctx.copy(back, block), IsOk());
  EXPECT_EQ(back, std::vector<unsigned char>(100, 0xCB));
  const auto said = only(kind::read_before_write);
  EXPECT_NE(said.find("'copy' reads 100 bytes of the block of 100 bytes at offset"),
            std::string::npos) << said;
  EXPECT_NE(said.find("of context " + std::to_string(ctx.id())), std::string::npos) << said;
}

TEST_F(checked_memory, D6_the_next_owner_sees_no_bytes_of_the_one_before) {
  const void* before = nullptr;
  {
    const auto block = ctx.allocate<unsigned char>(100).value();
    before = block.data();
    ASSERT_THAT(s.fill_bytes(block, 9), IsOk());
    ASSERT_THAT(s.synchronize(), IsOk());
  }
  const auto next = ctx.allocate<unsigned char>(100).value();
  EXPECT_NE(next.data(), before) << "a freed block rests";
  std::vector<unsigned char> back(100);
  ASSERT_THAT(s.copy(back, next), IsOk());
  EXPECT_EQ(std::count(back.begin(), back.end(), 9), 0);
  EXPECT_NE(only(kind::read_before_write).find("task 2 'copy' of stream"), std::string::npos);
}

TEST_F(checked_memory, D6_a_task_that_never_wrote_its_output_is_found_by_who_reads_it) {
  const auto out = ctx.allocate<int>(8).value();
  ASSERT_THAT(s.fill_bytes(device_span<int>(out.data(), 6, ctx.id()), 0), IsOk());
  ASSERT_THAT(s.launch("sum", [](gsl::span<const int>) {}, out), IsOk());
  ASSERT_THAT(s.synchronize(), IsOk());
  const auto said = only(kind::read_before_write);
  EXPECT_NE(said.find("task 2 'sum'"), std::string::npos) << said;
  EXPECT_NE(said.find("reads 8 bytes of the block of 32 bytes"), std::string::npos) << said;
  EXPECT_NE(said.find("from byte 24 of it on"), std::string::npos) << said;
}

TEST_F(checked_memory, E6_one_byte_behind_a_block_of_100_is_reported_with_block_size_and_task) {
  const auto block = ctx.allocate<unsigned char>(100).value();
  copy_request past;
  past.target = block.data();
  past.source = block.data();
  past.bytes = 101;
  EXPECT_THAT(s.copy_raw(past), HasCode(code::invalid_parameter)) << "a copy is refused";
  ASSERT_THAT(s.launch("before", [](gsl::span<unsigned char>) {}, block), IsOk());
  ASSERT_THAT(s.launch("spill", [](gsl::span<unsigned char> all) { all.data()[100] = 1; }, block),
              IsOk());
  ASSERT_THAT(s.launch("after", [](gsl::span<unsigned char>) {}, block), IsOk());
  ASSERT_THAT(s.synchronize(), IsOk());
  const auto said = only(kind::out_of_bounds);
  EXPECT_NE(said.find("after task 2 'spill' of stream " + std::to_string(s.id())),
            std::string::npos) << said;
  EXPECT_NE(said.find("1 byte behind the end of the block of 100 bytes"), std::string::npos) << said;
  EXPECT_NE(said.find("from byte 100"), std::string::npos) << said;
}

TEST_F(checked_memory, E6_blocks_of_pools_have_guard_zones_too) {
  const auto pool = ctx.create_pool().value();
  const auto block = pool.allocate<unsigned char>(s, 512).value(); // all of a size class
  const auto beside = pool.allocate<unsigned char>(s, 512).value();
  ASSERT_THAT(s.launch("spill", [](gsl::span<unsigned char> all) { all.data()[-1] = 1; }, beside),
              IsOk());
  ASSERT_THAT(s.synchronize(), IsOk());
  const auto said = only(kind::out_of_bounds);
  EXPECT_NE(said.find("behind the end of the block of 512 bytes"), std::string::npos) << said;
  EXPECT_NE(said.find("in front of the block at offset"), std::string::npos) << said;
  ASSERT_THAT(s.fill_bytes(block, 1), IsOk());
}

TEST_F(checked_memory, a_kernel_that_names_more_than_its_block_has_is_reported) {
  const auto block = ctx.allocate<int>(4).value();
  const device_span<int> more(block.data(), 5, ctx.id());
  ASSERT_THAT(s.launch("greedy", [](gsl::span<int>) {}, more), IsOk());
  ASSERT_THAT(s.synchronize(), IsOk());
  const auto said = only(kind::out_of_bounds);
  EXPECT_NE(said.find("task 1 'greedy'"), std::string::npos) << said;
  EXPECT_NE(said.find("uses 4 bytes behind the end of the block of 16 bytes"), std::string::npos)
      << said;
}

TEST_F(checked_memory, a_write_after_the_free_is_caught_while_the_block_rests) {
  auto block = ctx.allocate<int>(4).value();
  auto* stale = block.data();
  ASSERT_THAT(block.free(), IsOk());
  ASSERT_THAT(s.launch("late", [stale] { stale[2] = 1; }), IsOk());
  ASSERT_THAT(s.synchronize(), IsOk());
  auto said = only(kind::used_after_free);
  EXPECT_NE(said.find("after task 1 'late'"), std::string::npos) << said;
  EXPECT_NE(said.find("of the block of 16 bytes"), std::string::npos) << said;
  EXPECT_NE(said.find("from byte 8"), std::string::npos) << said;
  const device_span<int> view(stale, 4, ctx.id());
  ASSERT_THAT(s.launch("declared", [](gsl::span<const int>) {}, view), IsOk());
  ASSERT_THAT(s.synchronize(), IsOk());
  said = only(kind::used_after_free);
  EXPECT_NE(said.find("task 2 'declared'"), std::string::npos) << said;
}

TEST_F(checked_memory, a_write_after_the_free_to_a_pool_is_caught_too) {
  const auto pool = ctx.create_pool().value();
  unsigned char* stale = nullptr;
  {
    const auto block = pool.allocate<unsigned char>(s, 512).value();
    stale = block.data();
  }
  ASSERT_THAT(s.launch("late", [stale] { stale[7] = 1; }), IsOk());
  ASSERT_THAT(s.synchronize(), IsOk());
  EXPECT_NE(only(kind::used_after_free).find("after task 1 'late'"), std::string::npos);
}

TEST_F(checked_memory, a_block_of_a_pool_is_not_handed_out_under_work_and_the_oldest_comes_first) {
  const auto pool = ctx.create_pool({.release_threshold_bytes = UINT64_MAX}).value();
  auto hold = rt.create_signal();
  ASSERT_THAT(s.wait(hold), IsOk());
  auto first = pool.allocate<char>(s, 512).value();
  auto second = pool.allocate<char>(s, 512).value();
  const auto* oldest = first.data();
  const auto* newest = second.data();
  ASSERT_THAT(s.fill_bytes(first, 1), IsOk());
  ASSERT_THAT(s.fill_bytes(second, 1), IsOk());
  first = {};
  second = {};
  const auto apart = pool.allocate<char>(s, 512).value();
  EXPECT_NE(apart.data(), oldest);
  EXPECT_NE(apart.data(), newest);
  hold.raise();
  ASSERT_THAT(s.synchronize(), IsOk());
  EXPECT_EQ(pool.allocate<char>(s, 512).value().data(), oldest);
  EXPECT_TRUE(news().empty());
}

TEST_F(checked_memory, a_kernel_reads_before_it_writes_and_a_batch_does_what_it_names_in_order) {
  const auto one = ctx.allocate<int>(4).value();
  ASSERT_THAT(s.launch("in place", [](gsl::span<int>, gsl::span<const int>) {}, one, one), IsOk());
  ASSERT_THAT(s.synchronize(), IsOk());
  EXPECT_NE(only(kind::read_before_write).find("'in place'"), std::string::npos);
  const auto two = ctx.allocate<int>(4).value();
  const auto three = ctx.allocate<int>(4).value();
  const std::vector<copy_entry> chain{make_copy_entry(two.span(), one.span()),
                                      make_copy_entry(three.span(), two.span())};
  ASSERT_THAT(s.copy_batch({.entries = chain}), IsOk());
  ASSERT_THAT(s.synchronize(), IsOk());
  EXPECT_TRUE(news().empty());
}

TEST_F(checked_memory, a_graph_is_looked_at_in_the_order_of_its_nodes) {
  const auto block = ctx.allocate<int>(4).value();
  const auto other = ctx.allocate<int>(4).value();
  graph g("steps");
  const node first = g.add_fill(block, 1).value();
  const node second = g.add_kernel("reads", [](gsl::span<const int>) {}, block).value();
  const node third = g.add_kernel("early", [](gsl::span<const int>) {}, other).value();
  ASSERT_THAT(g.add_dependency(first, second), IsOk());
  ASSERT_THAT(g.add_dependency(second, third), IsOk());
  const auto run = executable_graph::instantiate(ctx, g).value();
  ASSERT_THAT(run.launch(s), IsOk());
  ASSERT_THAT(s.synchronize(), IsOk());
  EXPECT_NE(only(kind::read_before_write).find("'early'"), std::string::npos);
}

TEST_F(checked_memory, blocks_that_rest_are_used_when_memory_is_short) {
  const auto total = dev.memory().value().total;
  for (int round = 0; round < 4; ++round) {
    auto most = ctx.allocate<char>(total / 2 + 4096);
    ASSERT_THAT(most, IsOk()) << round;
  }
  for (int round = 0; round < 200; ++round) {
    ASSERT_THAT(ctx.allocate<char>(total / 64), IsOk()) << round;
  }
  EXPECT_TRUE(news().empty());
}

TEST_F(checked_memory, what_rests_is_bounded_and_ends_its_rest_when_there_is_no_other_room) {
  constexpr std::uint64_t mib = std::uint64_t{1} << 20;
  for (int i = 0; i < 100; ++i) ASSERT_THAT(ctx.allocate<char>(100), IsOk());
  const auto resting = ctx.memory().value().quarantined;
  const auto one = ctx.allocate<char>(100).value();
  const auto size = ctx.memory().value().used - resting;
  EXPECT_EQ(resting, 64 * size);
  const auto most = ctx.allocate<char>(dev.memory().value().total - 48 * mib).value();
  for (int round = 0; round < 6; ++round) {
    ASSERT_THAT(ctx.allocate<char>(20 * mib), IsOk()) << round;
  }
  EXPECT_TRUE(news().empty());
}

TEST(checked_memory_trimmed, D6_freed_memory_that_the_budget_takes_back_is_not_taken_for_written) {
  constexpr std::uint64_t mib = std::uint64_t{1} << 20;
  auto options = checked_options();
  options.memory_budget_bytes = 16 * mib;
  runtime rt = make_runtime(options);
  const auto ctx = rt.device(0).value().create_context().value();
  auto first = ctx.allocate<char>(6 * mib).value();
  const auto second = ctx.allocate<char>(6 * mib).value();
  ASSERT_THAT(first.free(), IsOk());
  ASSERT_THAT(ctx.allocate<char>(9 * mib), IsOk()) << "not where the first was";
  const auto told = rt.diagnostics();
  for (const auto& each : told) ADD_FAILURE() << each.message;
}

TEST_F(checked_memory, leaks_are_told_when_their_context_ends) {
  const auto other = dev.create_context().value();
  (void)other.allocate_raw(100).value();
  ASSERT_THAT(other.destroy(), IsOk());
  await([&] { return !rt.diagnostics().empty(); });
  EXPECT_NE(only(kind::leaked_memory).find("100 bytes"), std::string::npos);
}

TEST(checked_memory_off, nothing_is_patterned_or_told) {
  runtime rt = make_runtime(test_options(1));
  const auto dev = rt.device(0).value();
  const auto ctx = dev.create_context().value();
  auto s = ctx.create_stream().value();
  const auto block = ctx.allocate<unsigned char>(100).value();
  EXPECT_EQ(dev.memory().value().used, 512U);
  ASSERT_THAT(s.launch("spill", [](gsl::span<unsigned char> all) { all.data()[100] = 1; }, block),
              IsOk());
  std::vector<unsigned char> back(100);
  ASSERT_THAT(s.copy(back, block), IsOk());
  EXPECT_TRUE(rt.diagnostics().empty());
}

} // namespace
} // namespace troupe
