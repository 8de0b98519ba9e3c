#include "actors/simulation/circles.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace troupe {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(circles, are_found_once_each_and_without_what_only_leads_to_them) {
  EXPECT_THAT(circles_of({}), IsEmpty());
  EXPECT_THAT(circles_of({1, 2, no_next}), IsEmpty());
  EXPECT_THAT(circles_of({0}), ElementsAre(ElementsAre(0)));
  EXPECT_THAT(circles_of({1, 2, 1, 4, 3, 3, no_next}), ElementsAre(ElementsAre(1, 2), ElementsAre(3, 4)));
}

} // namespace
} // namespace troupe
