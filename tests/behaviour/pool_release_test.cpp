// What pools keep and give back: release thresholds, trimming, statistics, the end of a pool (E5),
// and reuse that depends on stream order alone (E2).

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "tests/behaviour/side_thread.hpp"

namespace troupe {
namespace {

constexpr std::uint64_t slab = std::uint64_t{2} << 20;
constexpr std::uint64_t slabs = 4;

class pool_release : public stage_test {
protected:
  pool_release() : stage_test(patient_options()) {}

  static std::vector<pool_buffer<char>> fill(const pool& from, const stream& user) {
    std::vector<pool_buffer<char>> all;
    for (std::uint64_t i = 0; i < slabs; ++i) {
      all.push_back(from.allocate<char>(user, slab).value());
    }
    return all;
  }

  signal hold = rt.create_signal();
};

TEST_F(pool_release, E5_reserved_bytes_after_free_synchronise_and_trim_for_each_threshold) {
  struct row {
    std::uint64_t threshold;
    std::array<std::uint64_t, 3> reserved; // after free, synchronise, trim to one slab
  };
  for (const auto& [threshold, reserved] : {row{0, {slabs, 0, 0}}, row{slabs / 2, {slabs, 2, 1}},
                                            row{slabs, {slabs, slabs, 1}}}) {
    SCOPED_TRACE("a threshold of " + std::to_string(threshold) + " slabs");
    const auto p = ctx.create_pool({.release_threshold_bytes = threshold * slab}).value();
    fill(p, s).clear();
    EXPECT_EQ(p.counters().used, 0U);
    EXPECT_EQ(p.counters().reserved, reserved[0] * slab);
    EXPECT_EQ(dev.memory().value().cached, reserved[0] * slab);
    ASSERT_THAT(s.synchronize(), IsOk());
    EXPECT_EQ(p.counters().reserved, reserved[1] * slab);
    EXPECT_EQ(ctx.memory().value().used, reserved[1] * slab);
    ASSERT_THAT(p.trim(slab), IsOk());
    EXPECT_EQ(p.counters().reserved, reserved[2] * slab);
    EXPECT_EQ(dev.memory().value().used, reserved[2] * slab);
  }
}

TEST_F(pool_release, E5_a_synchronise_of_the_context_gives_back_as_one_of_a_stream_does) {
  const auto p = ctx.create_pool().value();
  fill(p, s).clear();
  ASSERT_THAT(ctx.synchronize(), IsOk());
  EXPECT_EQ(dev.memory().value().used, 0U);
}

TEST_F(pool_release, E5_memory_that_work_may_use_goes_back_at_the_first_synchronise_after_it) {
  const auto p = ctx.create_pool().value();
  auto other = ctx.create_stream().value();
  ASSERT_THAT(other.wait(hold), IsOk());
  {
    const auto block = p.allocate<char>(other, slab).value();
    ASSERT_THAT(other.fill_bytes(block, 1), IsOk());
  }
  ASSERT_THAT(s.synchronize(), IsOk());
  EXPECT_EQ(p.counters().reserved, slab) << "its fill has not run";
  EXPECT_EQ(p.counters().pending_free, slab);
  EXPECT_EQ(p.counters().largest_free, 0U);
  hold.raise();
  ASSERT_THAT(other.synchronize(), IsOk());
  EXPECT_EQ(p.counters().reserved, 0U);
}

TEST_F(pool_release, E5_trimming_below_what_is_in_use_is_an_error_and_changes_nothing) {
  const auto p = ctx.create_pool({.release_threshold_bytes = UINT64_MAX}).value();
  auto all = fill(p, s);
  all.pop_back();
  EXPECT_EQ(dev.memory().value().cached, slab);
  EXPECT_EQ(ctx.memory().value().cached, slab);
  const auto refused = p.trim((slabs - 1) * slab - 1);
  ASSERT_THAT(refused, HasCode(code::invalid_parameter));
  EXPECT_THAT(refused, SaysThat(std::to_string((slabs - 1) * slab)));
  EXPECT_EQ(p.counters().reserved, slabs * slab);
  EXPECT_THAT(p.trim((slabs - 1) * slab), IsOk());
  EXPECT_EQ(p.counters().reserved, (slabs - 1) * slab);
}

TEST_F(pool_release, E5_trimming_keeps_a_slab_that_is_more_than_the_excess) {
  const auto p = ctx.create_pool({.release_threshold_bytes = UINT64_MAX}).value();
  { const auto large = p.allocate<char>(s, 3 * slab).value(); }
  const auto in_use = p.allocate<char>(s, slab).value();
  ASSERT_EQ(p.counters().reserved, 3 * slab) << "cut from the same";
  const auto more = p.allocate<char>(s, 3 * slab).value();
  auto small = p.allocate<char>(s, 4 * slab).value();
  ASSERT_EQ(p.counters().reserved, 10 * slab);
  small = {};
  ASSERT_THAT(p.trim(7 * slab), IsOk());
  EXPECT_EQ(p.counters().reserved, 10 * slab) << "4 are more than 3";
  ASSERT_THAT(p.trim(6 * slab), IsOk());
  EXPECT_EQ(p.counters().reserved, 6 * slab);
}

TEST_F(pool_release, E5_destroy_with_live_allocations_is_an_error_and_changes_nothing) {
  const auto p = ctx.create_pool().value();
  {
    const auto block = p.allocate<char>(s, 100).value();
    EXPECT_THAT(p.destroy(), HasCode(code::invalid_parameter));
    EXPECT_EQ(p.counters().reserved, slab);
    EXPECT_THAT(p.allocate<char>(s, 100), IsOk());
  }
  ASSERT_THAT(p.destroy(), IsOk());
  EXPECT_EQ(dev.memory().value().used, 0U);
  EXPECT_THAT(p.allocate<char>(s, 100), HasCode(code::invalid_handle));
  EXPECT_THAT(p.trim(), HasCode(code::invalid_handle));
  EXPECT_THAT(p.destroy(), HasCode(code::invalid_handle));
}

TEST_F(pool_release, E5_high_water_marks_of_used_and_reserved_are_kept_until_reset) {
  const auto p = ctx.create_pool().value();
  fill(p, s).clear();
  ASSERT_THAT(s.synchronize(), IsOk());
  EXPECT_EQ(p.counters().used_high_water, slabs * slab);
  EXPECT_EQ(p.counters().reserved_high_water, slabs * slab);
  p.reset_high_water();
  EXPECT_EQ(p.counters().used_high_water, 0U);
  EXPECT_EQ(p.counters().reserved_high_water, 0U);
}

// The block is free for anybody to see, and yet stays its own stream's.
TEST_F(pool_release, E2_without_opportunistic_reuse_only_stream_order_decides) {
  const auto p =
      ctx.create_pool({.release_threshold_bytes = UINT64_MAX, .opportunistic = false}).value();
  const auto other = ctx.create_stream().value();
  const auto* address = p.allocate<char>(s, 100).value().data();
  ASSERT_THAT(ctx.synchronize(), IsOk());
  EXPECT_NE(p.allocate<char>(other, 100).value().data(), address);
  EXPECT_EQ(p.allocate<char>(s, 100).value().data(), address);
  const auto lucky = ctx.create_pool({.release_threshold_bytes = UINT64_MAX}).value();
  const auto* shared = lucky.allocate<char>(s, 100).value().data();
  ASSERT_THAT(ctx.synchronize(), IsOk());
  EXPECT_EQ(lucky.allocate<char>(other, 100).value().data(), shared);
}

} // namespace
} // namespace troupe
