#include "tests/soak/verdict.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace troupe::soak {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

checkpoint calm() {
  return {{100U << 20U, 10, 8, 0, 0, 0, 0}, 1000, 5000};
}

TEST(soak_verdict, has_nothing_against_figures_that_stay) {
  EXPECT_THAT(not_flat({}), IsEmpty());
  EXPECT_THAT(not_flat(std::vector<checkpoint>(9, calm())), IsEmpty());
}

TEST(soak_verdict, names_whatever_is_held_at_rest_even_in_the_first_interval) {
  std::vector<checkpoint> points(2, calm());
  points[0].held.streams = 1;
  points[1].held.device_bytes = 64;
  EXPECT_THAT(not_flat(points),
              ElementsAre("after interval 1: 1 streams held while nothing is under way",
                          "after interval 2: 64 bytes of device memory held while nothing is under "
                          "way"));
}

TEST(soak_verdict, names_what_grows_after_the_warm_up) {
  std::vector<checkpoint> points(9, calm());
  points[0].held.threads = 20; // warm-up
  points[8].held.threads = 9;
  points[7].held.descriptors = 11;
  points[6].held.resident_bytes = 120U << 20U;
  EXPECT_THAT(not_flat(points), ElementsAre("file descriptors grew from 10 to 11",
                                            "threads grew from 8 to 9",
                                            "resident bytes grew from 104857600 to 125829120"));
}

TEST(soak_verdict, allows_resident_memory_a_little) {
  std::vector<checkpoint> points(9, calm());
  points[8].held.resident_bytes = 108U << 20U;
  EXPECT_THAT(not_flat(points), IsEmpty());
}

} // namespace
} // namespace troupe::soak
