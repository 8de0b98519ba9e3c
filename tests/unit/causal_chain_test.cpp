#include "core/exploration/causal_chain.hpp"

#include <gtest/gtest.h>

namespace troupe {
namespace {

using places = std::vector<std::size_t>;

// Channel 0 is a client that sends to 1 and 2, which send to 3.
const std::vector<cause_link> links{{1, 0, 0}, {2, 1, 0}, {3, 2, 1},
                                    {5, 2, 2}, {6, 3, 3}, {9, 5, 3}};

TEST(causal_chain, goes_from_sender_to_receiver_and_leaves_out_the_rest) {
  EXPECT_EQ(causal_chain(links, 6, 10), (places{1, 2, 4}));
  EXPECT_EQ(causal_chain(links, 9, 10), (places{1, 3, 5}));
}

TEST(causal_chain, begins_at_the_last_step_up_to_the_one_asked_for) {
  EXPECT_EQ(causal_chain(links, 4, 10), (places{1, 2}));
  EXPECT_EQ(causal_chain(links, 100, 10), causal_chain(links, 9, 10));
  EXPECT_EQ(causal_chain({}, 9, 10), places{});
}

TEST(causal_chain, keeps_the_latest_where_there_are_too_many) {
  EXPECT_EQ(causal_chain(links, 9, 2), (places{3, 5}));
}

} // namespace
} // namespace troupe
