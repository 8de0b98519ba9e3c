#include "core/status.hpp"

#include <memory>
#include <string>
#include <type_traits>
#include <utility>

#include <gmock/gmock.h>

#include "tests/support/status_matchers.hpp"

namespace troupe {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

error_record full_record() {
  error_record record;
  record.what = code::kernel_exception;
  record.message = "went wrong";
  record.device = 0;
  record.context = 7;
  record.stream = 8;
  record.task_number = 9;
  record.task_name = "scale";
  record.thread = 3;
  record.site = {"there.cpp", 21};
  record.plan_entry = "entry 5";
  record.lacking = shortage{"streams", 1, 4, 4};
  return record;
}

TEST(status, success_carries_nothing) {
  const status s;
  EXPECT_TRUE(s.ok());
  EXPECT_EQ(s.code(), code::success);
  EXPECT_EQ(s.record(), nullptr);
  EXPECT_EQ(s.message(), "");
  EXPECT_EQ(s.describe(), "success");
  EXPECT_NO_THROW(s.or_throw());
}

TEST(status, a_failure_shares_one_record_with_its_copies) {
  const auto s = make_status(code::queue_full, "full of 4");
  const auto copy = s; // NOLINT: the copy is the point
  EXPECT_EQ(copy.record().get(), s.record().get());
  EXPECT_EQ(copy.message(), "full of 4");
  EXPECT_EQ(copy.code(), code::queue_full);
}

TEST(status, a_null_record_is_success) {
  EXPECT_TRUE(status(std::shared_ptr<const error_record>()).ok());
}

TEST(status, outcomes_are_equal_when_their_codes_are) {
  EXPECT_EQ(make_status(code::queue_full, "a"), make_status(code::queue_full, "b"));
  EXPECT_FALSE(make_status(code::queue_full, "a") == make_status(code::over_limit, "a"));
}

TEST(status, or_throw_throws_the_same_failure) {
  const auto s = make_status(code::over_limit, "too many");
  try {
    s.or_throw();
    FAIL() << "nothing was thrown";
  } catch (const error& e) {
    EXPECT_EQ(e.code(), code::over_limit);
    EXPECT_EQ(e.outcome().record().get(), s.record().get());
    EXPECT_EQ(std::string(e.what()), s.describe());
  }
}

TEST(status, describe_names_every_field_of_the_record) {
  const auto text = describe(full_record());
  for (const auto* part :
       {"kernel_exception (507015): went wrong", "task 9 'scale'", "of stream 8", "context 7",
        "device 0", "submitted at there.cpp:21 by thread 3", "injected by entry 5",
        "streams: asked 1, used 4, limit 4"}) {
    EXPECT_THAT(text, HasSubstr(part));
  }
}

TEST(status, describe_leaves_out_what_does_not_apply) {
  EXPECT_EQ(make_status(code::bad_argument, "0 elements").describe(),
            "bad_argument (100000): 0 elements");
}

TEST(status, describe_lists_causes_below_from_the_last_to_the_first) {
  error_record middle;
  middle.what = code::stream_abort;
  middle.message = "middle";
  middle.cause = std::make_shared<const error_record>(full_record());
  error_record last;
  last.what = code::task_timeout;
  last.message = "last";
  last.cause = std::make_shared<const error_record>(middle);
  const auto text = describe(last);
  const auto at_middle = text.find("\ncaused by stream_abort (107023): middle");
  const auto at_first = text.find("\ncaused by kernel_exception (507015): went wrong");
  ASSERT_NE(at_middle, std::string::npos);
  ASSERT_NE(at_first, std::string::npos);
  EXPECT_LT(at_middle, at_first);
}

TEST(status, every_code_has_a_name_of_its_own) {
  EXPECT_EQ(to_string(code::success), "success");
  EXPECT_EQ(to_string(code::event_sync_timeout), "event_sync_timeout");
  EXPECT_EQ(to_string(static_cast<code>(424242)), "unnamed_code");
  EXPECT_EQ(to_string(static_cast<code>(107030)), "capture_mode");
  EXPECT_EQ(to_string(static_cast<code>(507903)), "capture_invalidated");
}

TEST(result, holds_a_value_or_the_reason_why_not) {
  const result<int> good = 5;
  EXPECT_TRUE(good.ok());
  EXPECT_TRUE(static_cast<bool>(good));
  EXPECT_EQ(good.value(), 5);
  EXPECT_TRUE(good.error().ok());
  EXPECT_EQ(good.code(), code::success);

  const result<int> bad = make_status(code::invalid_device, "no 9");
  EXPECT_FALSE(bad.ok());
  EXPECT_EQ(bad.code(), code::invalid_device);
  EXPECT_THAT(bad, SaysThat("no 9"));
  EXPECT_THROW((void)bad.value(), error);
}

TEST(result, gives_up_a_value_that_can_only_be_moved) {
  result<std::unique_ptr<int>> made = std::make_unique<int>(3);
  const auto taken = std::move(made).value();
  EXPECT_EQ(*taken, 3);
}

} // namespace
} // namespace troupe
