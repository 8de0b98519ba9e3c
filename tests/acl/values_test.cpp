#include <thread>

#include "tests/acl/acl_fixture.hpp"

namespace {

class acl_values : public acl_test {
 protected:
  void SetUp() override {
    acl_test::SetUp();
    ASSERT_EQ(aclrtMalloc(&cell_, 64, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
    ASSERT_EQ(aclrtMemset(cell_, 64, 0, 64), ACL_SUCCESS);
    writer_ = make_stream();
    reader_ = make_stream();
  }

  static bool idle(aclrtStream stream) {
    aclrtStreamStatus seen = ACL_STREAM_STATUS_RESERVED;
    EXPECT_EQ(aclrtStreamQuery(stream, &seen), ACL_SUCCESS);
    return seen == ACL_STREAM_STATUS_COMPLETE;
  }
  void write(std::uint64_t value) {
    ASSERT_EQ(aclrtValueWrite(cell_, value, 0, writer_), ACL_SUCCESS);
    ASSERT_EQ(aclrtSynchronizeStream(writer_), ACL_SUCCESS);
  }

  void* cell_ = nullptr;
  aclrtStream writer_ = nullptr;
  aclrtStream reader_ = nullptr;
};

TEST_F(acl_values, a_stream_waits_until_the_value_is_written_that_it_waits_for) {
  ASSERT_EQ(aclrtValueWait(cell_, 5, ACL_STREAM_WAIT_VALUE_GEQ, reader_), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStreamWithTimeout(reader_, 1), ACL_ERROR_RT_STREAM_SYNC_TIMEOUT);
  write(4);
  EXPECT_FALSE(idle(reader_));
  write(7);
  EXPECT_EQ(aclrtSynchronizeStream(reader_), ACL_SUCCESS);
  std::uint64_t seen = 0;
  ASSERT_EQ(aclrtMemcpy(&seen, 8, cell_, 8, ACL_MEMCPY_DEVICE_TO_HOST), ACL_SUCCESS);
  EXPECT_EQ(seen, 7U);
}

TEST_F(acl_values, each_condition_is_what_its_name_says) {
  struct row {
    std::uint32_t how;
    std::uint64_t wanted;
    std::uint64_t no;
    std::uint64_t yes;
  };
  const auto all = ~std::uint64_t{0};
  for (const auto& each : {row{ACL_STREAM_WAIT_VALUE_GEQ, 9, 8, 9},
                           row{ACL_STREAM_WAIT_VALUE_EQ, 9, 10, 9},
                           row{ACL_STREAM_WAIT_VALUE_AND, 6, 9, 12},
                           row{ACL_STREAM_WAIT_VALUE_NOR, 1, all - 1, 4}}) {
    write(each.no);
    ASSERT_EQ(aclrtValueWait(cell_, each.wanted, each.how, reader_), ACL_SUCCESS);
    EXPECT_EQ(aclrtSynchronizeStreamWithTimeout(reader_, 1), ACL_ERROR_RT_STREAM_SYNC_TIMEOUT)
        << each.how;
    write(each.yes);
    EXPECT_EQ(aclrtSynchronizeStream(reader_), ACL_SUCCESS);
    ASSERT_EQ(aclrtValueWait(cell_, each.wanted, each.how, reader_), ACL_SUCCESS);
    EXPECT_EQ(aclrtSynchronizeStream(reader_), ACL_SUCCESS);  // holds already
  }
}

TEST_F(acl_values, streams_pass_a_number_to_and_fro) {
  for (std::uint64_t i = 0; i < 200; ++i) {
    ASSERT_EQ(aclrtValueWait(cell_, 2 * i, ACL_STREAM_WAIT_VALUE_EQ, writer_), ACL_SUCCESS);
    ASSERT_EQ(aclrtValueWrite(cell_, 2 * i + 1, 0, writer_), ACL_SUCCESS);
    ASSERT_EQ(aclrtValueWait(cell_, 2 * i + 1, ACL_STREAM_WAIT_VALUE_EQ, reader_), ACL_SUCCESS);
    ASSERT_EQ(aclrtValueWrite(cell_, 2 * i + 2, 0, reader_), ACL_SUCCESS);
  }
  EXPECT_EQ(aclrtSynchronizeStream(writer_), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStream(reader_), ACL_SUCCESS);
}

TEST_F(acl_values, an_abort_ends_a_wait_and_bad_arguments_are_refused) {
  ASSERT_EQ(aclrtValueWait(cell_, 5, ACL_STREAM_WAIT_VALUE_EQ, reader_), ACL_SUCCESS);
  EXPECT_EQ(aclrtStreamAbort(reader_), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStream(reader_), ACL_SUCCESS);
  write(5);
  auto* bytes = static_cast<char*>(cell_);
  EXPECT_EQ(aclrtValueWrite(nullptr, 1, 0, writer_), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtValueWrite(&bytes, 1, 0, writer_), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(aclrtValueWrite(bytes + 4, 1, 0, writer_), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(aclrtValueWrite(cell_, 1, 1, writer_), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(aclrtValueWait(cell_, 1, 4, reader_), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(aclrtValueWait(cell_, 1, 0, cell_), ACL_ERROR_RT_INVALID_HANDLE);
  EXPECT_TRUE(idle(reader_));
}

TEST_F(acl_values, an_event_tells_when_all_waits_for_it_have_ended) {
  auto* const event = make_event();
  aclrtEventWaitStatus seen = ACL_EVENT_WAIT_STATUS_RESERVED;
  ASSERT_EQ(aclrtQueryEventWaitStatus(event, &seen), ACL_SUCCESS);
  EXPECT_EQ(seen, ACL_EVENT_WAIT_STATUS_COMPLETE);
  gate held;
  gate before;
  ASSERT_EQ(aclrtLaunchHostFunc(writer_, &gate::wait, &held), ACL_SUCCESS);
  ASSERT_EQ(aclrtRecordEvent(event, writer_), ACL_SUCCESS);
  ASSERT_EQ(aclrtLaunchHostFunc(reader_, &gate::wait, &before), ACL_SUCCESS);
  ASSERT_EQ(aclrtStreamWaitEvent(reader_, event), ACL_SUCCESS);
  held.let_go();
  ASSERT_EQ(aclrtSynchronizeStream(writer_), ACL_SUCCESS);
  ASSERT_EQ(aclrtQueryEventWaitStatus(event, &seen), ACL_SUCCESS);
  EXPECT_EQ(seen, ACL_EVENT_WAIT_STATUS_NOT_READY);  // the record is reached, the wait is not
  before.let_go();
  ASSERT_EQ(aclrtSynchronizeStream(reader_), ACL_SUCCESS);
  ASSERT_EQ(aclrtQueryEventWaitStatus(event, &seen), ACL_SUCCESS);
  EXPECT_EQ(seen, ACL_EVENT_WAIT_STATUS_COMPLETE);
}

TEST_F(acl_values, time_stamps_of_events_rise_and_fit_the_elapsed_time) {
  auto* const start = make_event();
  auto* const end = make_event();
  std::uint64_t from = 4711;
  EXPECT_EQ(aclrtEventGetTimestamp(start, &from), ACL_ERROR_RT_INTERNAL_ERROR);
  EXPECT_EQ(from, 4711U);
  ASSERT_EQ(aclrtRecordEvent(start, writer_), ACL_SUCCESS);
  write(1);
  ASSERT_EQ(aclrtRecordEvent(end, writer_), ACL_SUCCESS);
  ASSERT_EQ(aclrtSynchronizeStream(writer_), ACL_SUCCESS);
  std::uint64_t to = 0;
  float ms = 0;
  ASSERT_EQ(aclrtEventGetTimestamp(start, &from), ACL_SUCCESS);
  ASSERT_EQ(aclrtEventGetTimestamp(end, &to), ACL_SUCCESS);
  ASSERT_EQ(aclrtEventElapsedTime(&ms, start, end), ACL_SUCCESS);
  EXPECT_LE(from, to);
  EXPECT_NEAR(static_cast<double>(to - from), static_cast<double>(ms) * 1000, 2);
}

}  // namespace
