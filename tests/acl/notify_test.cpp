#include "tests/acl/acl_fixture.hpp"

namespace {

class acl_notifies : public acl_test {
 protected:
  void SetUp() override {
    acl_test::SetUp();
    ASSERT_EQ(aclrtCreateNotify(&notify_, ACL_NOTIFY_DEFAULT), ACL_SUCCESS);
    waiting_ = make_stream();
    recording_ = make_stream();
  }

  int record() { return aclrtRecordNotify(notify_, recording_); }
  int wait(std::uint32_t seconds = 0) {
    return aclrtWaitAndResetNotify(notify_, waiting_, seconds);
  }
  aclrtStreamStatus seen_of_waiting() const {
    aclrtStreamStatus seen = ACL_STREAM_STATUS_RESERVED;
    EXPECT_EQ(aclrtStreamQuery(waiting_, &seen), ACL_SUCCESS);
    return seen;
  }

  aclrtNotify notify_ = nullptr;
  aclrtStream waiting_ = nullptr;
  aclrtStream recording_ = nullptr;
};

TEST_F(acl_notifies, a_record_lets_one_wait_go_whichever_came_first) {
  ASSERT_EQ(record(), ACL_SUCCESS);
  ASSERT_EQ(aclrtSynchronizeStream(recording_), ACL_SUCCESS);
  ASSERT_EQ(wait(), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStream(waiting_), ACL_SUCCESS);
  ASSERT_EQ(wait(), ACL_SUCCESS);
  ASSERT_EQ(wait(), ACL_SUCCESS);
  ASSERT_EQ(record(), ACL_SUCCESS);
  ASSERT_EQ(aclrtSynchronizeStream(recording_), ACL_SUCCESS);
  EXPECT_EQ(seen_of_waiting(), ACL_STREAM_STATUS_NOT_READY);
  ASSERT_EQ(record(), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStream(waiting_), ACL_SUCCESS);
}

TEST_F(acl_notifies, a_mark_is_one_however_often_it_is_set_until_it_is_taken_or_reset) {
  ASSERT_EQ(record(), ACL_SUCCESS);
  ASSERT_EQ(record(), ACL_SUCCESS);
  ASSERT_EQ(aclrtSynchronizeStream(recording_), ACL_SUCCESS);
  ASSERT_EQ(aclrtNotifyBatchReset(&notify_, 1), ACL_SUCCESS);
  ASSERT_EQ(wait(), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStreamWithTimeout(waiting_, 1), ACL_ERROR_RT_STREAM_SYNC_TIMEOUT);
  ASSERT_EQ(record(), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStream(waiting_), ACL_SUCCESS);
}

// One second is what the call can say at least; the test waits for the state, not for the time.
TEST_F(acl_notifies, B5_a_wait_that_expires_fails_as_a_task_and_takes_no_mark_away) {
  ASSERT_EQ(wait(1), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStream(waiting_), ACL_ERROR_RT_TASK_TIMEOUT);
  ASSERT_EQ(record(), ACL_SUCCESS);
  ASSERT_EQ(wait(), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStream(waiting_), ACL_SUCCESS);
}

TEST_F(acl_notifies, a_wait_that_is_dropped_takes_no_mark_away) {
  ASSERT_EQ(wait(), ACL_SUCCESS);
  ASSERT_EQ(aclrtStreamAbort(waiting_), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStream(waiting_), ACL_SUCCESS);
  ASSERT_EQ(record(), ACL_SUCCESS);
  ASSERT_EQ(wait(), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStream(waiting_), ACL_SUCCESS);
}

TEST_F(acl_notifies, each_has_a_number_and_a_handle_of_its_own) {
  aclrtNotify other = nullptr;
  std::uint32_t first = 0;
  std::uint32_t second = 0;
  EXPECT_EQ(aclrtCreateNotify(&other, 2), ACL_ERROR_RT_PARAM_INVALID);
  ASSERT_EQ(aclrtCreateNotify(&other, ACL_NOTIFY_DEVICE_USE_ONLY), ACL_SUCCESS);
  ASSERT_EQ(aclrtGetNotifyId(notify_, &first), ACL_SUCCESS);
  ASSERT_EQ(aclrtGetNotifyId(other, &second), ACL_SUCCESS);
  EXPECT_NE(first, second);
  EXPECT_EQ(aclrtDestroyNotify(other), ACL_SUCCESS);
  EXPECT_EQ(aclrtDestroyNotify(other), ACL_ERROR_RT_INVALID_HANDLE);
  EXPECT_EQ(aclrtRecordNotify(other, recording_), ACL_ERROR_RT_INVALID_HANDLE);
  EXPECT_EQ(aclrtRecordNotify(recording_, recording_), ACL_ERROR_RT_INVALID_HANDLE);
  aclrtNotify both[2] = {notify_, other};
  ASSERT_EQ(record(), ACL_SUCCESS);
  ASSERT_EQ(aclrtSynchronizeStream(recording_), ACL_SUCCESS);
  EXPECT_EQ(aclrtNotifyBatchReset(both, 2), ACL_ERROR_RT_INVALID_HANDLE);
  ASSERT_EQ(wait(), ACL_SUCCESS);  // the mark is still there
  EXPECT_EQ(aclrtSynchronizeStream(waiting_), ACL_SUCCESS);
}

}  // namespace
