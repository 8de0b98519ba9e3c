#include "actors/memory_actor.hpp"

#include <atomic>

#include "tests/support/stage.hpp"

namespace troupe {
namespace {

class memory_test : public stage_test {
protected:
  memory_info settled() { return dev.memory().value(); }
  /// Returns once nothing is quarantined: the work that held it has ended.
  void await_no_quarantine() {
    while (settled().quarantined != 0) std::this_thread::yield();
  }
};

TEST_F(memory_test, figures_return_to_zero) {
  {
    const auto a = ctx.allocate<char>(1000).value();
    const auto b = ctx.allocate<char>(5000).value();
    const auto seen = settled();
    EXPECT_GE(seen.used, 6000U);
    EXPECT_EQ(seen.used + seen.free, seen.total);
    EXPECT_EQ(seen.high_water, seen.used);
    EXPECT_GT(seen.backed, 0U);
  }
  const auto seen = settled();
  EXPECT_EQ(seen.used, 0U);
  EXPECT_EQ(seen.quarantined, 0U);
  EXPECT_EQ(seen.largest_hole, seen.total);
  EXPECT_GE(seen.high_water, 6000U);
}

TEST_F(memory_test, a_block_freed_behind_held_work_is_not_handed_out_before_that_ends) {
  const auto hold = rt.create_signal();
  auto first = ctx.allocate<char>(4096).value();
  const auto* address = first.data();
  ASSERT_THAT(s.wait(hold), IsOk());
  ASSERT_THAT(s.fill_bytes(first, 1), IsOk());
  ASSERT_THAT(first.free(), IsOk());
  EXPECT_GE(settled().quarantined, 4096U);
  EXPECT_EQ(settled().used, settled().quarantined);
  for (int i = 0; i < 32; ++i) {
    const auto other = ctx.allocate<char>(4096).value();
    EXPECT_NE(other.data(), address);
  }
  EXPECT_FALSE(rt.diagnostics().empty());
  hold.raise();
  ASSERT_THAT(s.synchronize(), IsOk());
  await_no_quarantine();
  EXPECT_EQ(settled().used, 0U);
}

TEST_F(memory_test, of_a_destroyed_context_waits_for_a_kernel_that_does_not_stop) {
  gate door;
  auto block = ctx.allocate<int>(1024).value();
  ASSERT_THAT(s.launch("stays", [&door](std::span<int>) { door.pass(); }, block), IsOk());
  door.await_arrivals();
  ASSERT_THAT(ctx.destroy(), IsOk());
  // The stream ends without its kernel; the memory does not.
  while (dev.counters().streams != 0) std::this_thread::yield();
  EXPECT_GE(settled().quarantined, 1024 * sizeof(int));
  door.open();
  await_no_quarantine();
  EXPECT_EQ(settled().used, 0U);
}

TEST_F(memory_test, freed_after_an_abort_waits_for_the_kernel_that_was_given_up_on) {
  gate door;
  auto block = ctx.allocate<int>(1024).value();
  ASSERT_THAT(s.launch("stays", [&door](std::span<int>) { door.pass(); }, block), IsOk());
  door.await_arrivals();
  ASSERT_THAT(s.abort(), IsOk());
  while (!s.query().value()) std::this_thread::yield();
  ASSERT_THAT(s.launch("next", [] {}), IsOk());
  ASSERT_THAT(s.synchronize(), IsOk()); // the stream goes on without it
  ASSERT_THAT(block.free(), IsOk());
  EXPECT_GE(settled().quarantined, 1024 * sizeof(int));
  door.open();
  await_no_quarantine();
}

runtime_options with_budget() {
  auto made = test_options(1);
  made.memory_budget_bytes = memory_budget::charged() + (std::uint64_t{8} << 20);
  return made;
}

class budget_test : public stage_test {
protected:
  budget_test() : stage_test(with_budget()) {}
};

TEST_F(budget_test, a_shortage_names_the_budget_with_its_figures) {
  const auto refused = ctx.allocate<char>(std::size_t{64} << 20);
  EXPECT_THAT(refused, HasCode(code::device_out_of_memory));
  EXPECT_THAT(refused, SaysThat("memory budget"));
  const auto record = refused.error().record();
  ASSERT_TRUE(record->lacking.has_value());
  EXPECT_EQ(record->lacking->asked, std::uint64_t{64} << 20);
  EXPECT_EQ(record->lacking->limit, rt.options().memory_budget_bytes);
  EXPECT_EQ(dev.memory().value().used, 0U) << "a refused allocation keeps nothing";
}

TEST_F(budget_test, memory_that_is_free_is_given_up_for_other_memory) {
  { const auto first = ctx.allocate<char>(std::size_t{6} << 20).value(); }
  EXPECT_GE(dev.memory().value().backed, std::uint64_t{6} << 20);
  // Elsewhere on the device, so that it does not reuse what is backed.
  const auto held = ctx.allocate<char>(std::size_t{1} << 20).value();
  EXPECT_THAT(ctx.allocate<char>(std::size_t{6} << 20), IsOk());
}

} // namespace
} // namespace troupe
