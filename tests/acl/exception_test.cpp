#include <mutex>
#include <stdexcept>
#include <vector>

#include "tests/acl/acl_fixture.hpp"

namespace {

using acl_exceptions = acl_test;

void fail(void*) {
  throw std::runtime_error("too cold");
}

struct told {
  std::uint32_t task;
  std::uint32_t stream;
  std::uint32_t device;
  std::uint32_t code;
};

// What the callback was told, in order.
struct notebook {
  std::mutex guard;
  std::vector<told> all;
  std::atomic<std::size_t> count = 0;

  void wait_for(std::size_t n) const {
    for (auto seen = count.load(); seen < n; seen = count.load())
      count.wait(seen);
  }
};
notebook notes;
std::atomic<const aclrtExceptionInfo*> last_info = nullptr;

void note(aclrtExceptionInfo* info) {
  const std::lock_guard lock(notes.guard);
  notes.all.push_back({aclrtGetTaskIdFromExceptionInfo(info),
                       aclrtGetStreamIdFromExceptionInfo(info),
                       aclrtGetDeviceIdFromExceptionInfo(info),
                       aclrtGetErrorCodeFromExceptionInfo(info)});
  last_info = info;
  ++notes.count;
  notes.count.notify_all();
}

TEST_F(acl_exceptions, I4_each_failed_task_is_told_until_the_callback_is_taken_away) {
  auto* const stream = make_stream();
  {
    const std::lock_guard lock(notes.guard);
    notes.all.clear();
    notes.count = 0;
  }
  std::int32_t id = 0;
  ASSERT_EQ(aclrtStreamGetId(stream, &id), ACL_SUCCESS);
  ASSERT_EQ(aclrtSetExceptionInfoCallback(&note), ACL_SUCCESS);
  ASSERT_EQ(aclrtLaunchHostFunc(stream, &fail, nullptr), ACL_SUCCESS);
  ASSERT_EQ(aclrtLaunchHostFunc(stream, &fail, nullptr), ACL_SUCCESS);
  EXPECT_NE(aclrtSynchronizeStream(stream), ACL_SUCCESS);
  notes.wait_for(2);
  ASSERT_EQ(aclrtSetExceptionInfoCallback(nullptr), ACL_SUCCESS);
  ASSERT_EQ(aclrtLaunchHostFunc(stream, &fail, nullptr), ACL_SUCCESS);
  EXPECT_NE(aclrtSynchronizeStream(stream), ACL_SUCCESS);
  const std::lock_guard lock(notes.guard);
  ASSERT_EQ(notes.all.size(), 2U);
  EXPECT_EQ(notes.all[0].task, 1U);
  EXPECT_EQ(notes.all[1].task, 2U);
  for (const auto& each : notes.all) {
    EXPECT_EQ(each.stream, static_cast<std::uint32_t>(id));
    EXPECT_EQ(each.device, 0U);
    EXPECT_EQ(each.code, static_cast<std::uint32_t>(ACL_ERROR_RT_INTERNAL_ERROR));
  }
}

TEST_F(acl_exceptions, what_is_no_information_has_no_fields) {
  constexpr auto unknown = 0xFFFFFFFFU;
  const auto* const made_up = reinterpret_cast<const aclrtExceptionInfo*>(0x1238);
  EXPECT_EQ(aclrtGetTaskIdFromExceptionInfo(nullptr), unknown);
  EXPECT_EQ(aclrtGetErrorCodeFromExceptionInfo(made_up), unknown);
  EXPECT_EQ(aclrtGetDeviceIdFromExceptionInfo(last_info), unknown);  // it is over
  EXPECT_EQ(aclrtGetThreadIdFromExceptionInfo(made_up), unknown);
}

}  // namespace
