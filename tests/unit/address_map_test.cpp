#include <memory>
#include <vector>

#include <gtest/gtest.h>

#include "core/address_map.hpp"
#include "tests/support/status_matchers.hpp"

namespace troupe {
namespace {

constexpr auto unit = address_map::granule;

class address_map_test : public ::testing::Test {
protected:
  address_map map_{64 * unit};
  std::vector<address_map::ended> over_;
};

TEST_F(address_map_test, ranges_are_rounded_aligned_and_apart) {
  const auto first = map_.reserve(1, 0).value();
  const auto second = map_.reserve(unit + 1, 8 * unit).value();
  EXPECT_EQ(first.bytes, unit);
  EXPECT_EQ(second.bytes, 2 * unit);
  EXPECT_EQ(second.offset % (8 * unit), 0U);
  EXPECT_GE(second.offset, first.offset + first.bytes);
  EXPECT_NE(first.id, second.id);
}

TEST_F(address_map_test, released_addresses_are_used_again_and_the_old_range_stays_unknown) {
  const auto first = map_.reserve(64 * unit, 0).value();
  EXPECT_THAT(map_.reserve(1, 0), HasCode(code::memory_allocation));
  ASSERT_THAT(map_.release(first.id, false, over_), IsOk());
  EXPECT_EQ(map_.reserve(64 * unit, 0).value().offset, first.offset);
  EXPECT_THAT(map_.release(first.id, true, over_), HasCode(code::invalid_parameter));
}

TEST_F(address_map_test, a_forced_release_waits_for_those_who_hold_and_keeps_memory_for_them) {
  const auto r = map_.reserve(64 * unit, 0).value();
  auto memory = std::make_shared<int>(1);
  const std::weak_ptr<int> life = memory;
  ASSERT_THAT(map_.set_access(r.id, 7, mapped_access::read), IsOk());
  ASSERT_THAT(map_.map(r.id, 0, unit, memory), IsOk());
  ASSERT_THAT(map_.map(r.id, unit, unit, std::move(memory)), IsOk());
  const auto held = map_.hold(7, unit - 1, 1, access_mode::read).value();
  ASSERT_THAT(map_.release(r.id, true, over_), IsOk());
  EXPECT_EQ(over_.size(), 1U);
  over_.clear();
  EXPECT_FALSE(life.expired());
  EXPECT_THAT(map_.reserve(1, 0), HasCode(code::memory_allocation)) << "still in use";
  EXPECT_THAT(map_.hold(7, 0, 1, access_mode::read), HasCode(code::invalid_parameter));
  map_.let_go(held, over_);
  ASSERT_EQ(over_.size(), 1U);
  EXPECT_EQ(over_[0].offset, r.offset);
  over_.clear();
  EXPECT_TRUE(life.expired());
  EXPECT_EQ(map_.mapped_bytes(), 0U);
  EXPECT_THAT(map_.reserve(64 * unit, 0), IsOk());
}

TEST_F(address_map_test, a_hold_counts_on_every_mapping_that_it_touches_and_no_other) {
  const auto r = map_.reserve(3 * unit, 0).value();
  ASSERT_THAT(map_.set_access(r.id, 7, mapped_access::read_write), IsOk());
  for (const auto at : {0U, 1U, 2U}) {
    ASSERT_THAT(map_.map(r.id, at * unit, unit, std::make_shared<int>()), IsOk());
  }
  const auto held = map_.hold(7, r.offset + unit + 5, unit, access_mode::write).value();
  EXPECT_EQ(held.offset, r.offset + unit);
  EXPECT_EQ(held.bytes, 2 * unit);
  for (const auto at : {0U, 1U, 2U}) ASSERT_THAT(map_.unmap(r.id, at * unit, over_), IsOk());
  EXPECT_EQ(over_.size(), 1U);
  map_.let_go(held, over_);
  EXPECT_EQ(over_.size(), 3U);
}

TEST_F(address_map_test, a_right_to_read_is_none_to_write_and_one_context_has_not_another_s) {
  const auto r = map_.reserve(unit, 0).value();
  ASSERT_THAT(map_.map(r.id, 0, unit, std::make_shared<int>()), IsOk());
  ASSERT_THAT(map_.set_access(r.id, 7, mapped_access::read), IsOk());
  EXPECT_THAT(map_.hold(7, r.offset, unit, access_mode::read), IsOk());
  EXPECT_THAT(map_.hold(7, r.offset, unit, access_mode::write), HasCode(code::invalid_parameter));
  EXPECT_THAT(map_.hold(8, r.offset, unit, access_mode::read), HasCode(code::invalid_parameter));
  EXPECT_THAT(map_.hold(7, r.offset + 1, unit, access_mode::read),
              HasCode(code::invalid_parameter));
  EXPECT_THAT(map_.hold(7, r.offset + 1, UINT64_MAX, access_mode::read),
              HasCode(code::invalid_parameter));
}

} // namespace
} // namespace troupe
