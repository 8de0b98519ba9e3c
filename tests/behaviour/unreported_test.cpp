// The failures that nobody was told of, for who ends a context or its runtime.

#include <optional>
#include <vector>

#include "tests/support/stage.hpp"
#include "troupe/unreported.hpp"

namespace troupe {
namespace {

class failures_untold : public stage_test {
protected:
  static void fail(stream& on, const char* name) {
    ASSERT_THAT(on.launch(task(std::string_view(name)),
                          [] { throw error(code::kernel_timeout, "made to"); }),
                IsOk());
    await([&] { return on.query().value(); });
  }

  std::vector<std::string> names() const {
    std::vector<std::string> made;
    for (const auto& each : take_unreported(ctx)) made.push_back(each.record()->task_name);
    return made;
  }

  using list = std::vector<std::string>;
};

TEST_F(failures_untold, F1_the_first_of_each_stream_in_their_order_and_told_by_that) {
  auto other = ctx.create_stream().value();
  EXPECT_EQ(names(), list{});
  fail(other, "first");
  fail(s, "second");
  fail(other, "third");
  EXPECT_EQ(names(), (list{"first", "second"}));
  EXPECT_EQ(names(), list{});
  EXPECT_THAT(other.synchronize(), IsOk());
  EXPECT_EQ(other.failures().size(), 2U);
}

TEST_F(failures_untold, F1_what_a_synchronise_told_is_not_among_them) {
  fail(s, "told");
  EXPECT_THAT(s.synchronize(), HasCode(code::kernel_timeout));
  EXPECT_EQ(names(), list{});
}

TEST_F(failures_untold, F1_those_of_streams_without_a_handle_are) {
  {
    std::optional<stream> gone = ctx.create_stream().value();
    fail(*gone, "gone");
  }
  EXPECT_EQ(names(), list{"gone"});
}

TEST_F(failures_untold, F1_there_is_no_wait_for_what_is_pending) {
  const auto go = rt.create_signal();
  fail(s, "failed");
  ASSERT_THAT(s.wait(go), IsOk());
  EXPECT_EQ(names(), list{"failed"});
  go.raise();
}

TEST_F(failures_untold, F1_an_empty_handle_has_none_and_ended_ones_still_answer) {
  EXPECT_TRUE(take_unreported(context()).empty());
  fail(s, "left");
  ASSERT_THAT(rt.shutdown(), IsOk());
  const auto left = names();
  EXPECT_EQ(left, list{"left"});
}

} // namespace
} // namespace troupe
