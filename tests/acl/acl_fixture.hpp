#pragma once

#include <atomic>

#include <acl/acl.h>
#include <acl/acl_rt_allocator.h>
#include <gtest/gtest.h>

/// A test of the C interface on device 0, which it sets and resets.
class acl_test : public testing::Test {
 protected:
  void SetUp() override { ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS); }
  void TearDown() override {
    (void)aclrtGetLastError(ACL_RT_THREAD_LEVEL);
    aclrtContext current = nullptr;
    if (aclrtGetCurrentContext(&current) != ACL_SUCCESS) (void)aclrtSetDevice(0);
    // Each set of this thread wants a reset; the last one ends the context.
    while (aclrtResetDevice(0) == ACL_SUCCESS) {
    }
    (void)aclrtGetLastError(ACL_RT_THREAD_LEVEL);
  }

  static aclrtStream make_stream() {
    aclrtStream made = nullptr;
    EXPECT_EQ(aclrtCreateStream(&made), ACL_SUCCESS);
    return made;
  }
  static aclrtEvent make_event() {
    aclrtEvent made = nullptr;
    EXPECT_EQ(aclrtCreateEventExWithFlag(&made, ACL_EVENT_SYNC | ACL_EVENT_TIME_LINE), ACL_SUCCESS);
    return made;
  }
};

/// An enumerator that there is none of.
template <class Enum>
Enum enumerator(int number) {
  return static_cast<Enum>(number);
}

/// A host function that holds its stream until it is opened.
struct gate {
  std::atomic<bool> open = false;
  static void wait(void* self) { static_cast<gate*>(self)->open.wait(false); }
  void let_go() {
    open = true;
    open.notify_all();
  }
};
