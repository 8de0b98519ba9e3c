#include "tests/acl/acl_fixture.hpp"

namespace {

class acl_mapping : public acl_test {
 protected:
  void SetUp() override {
    acl_test::SetUp();
    kind_.location.type = ACL_MEM_LOCATION_TYPE_DEVICE;
    kind_.memAttr = ACL_HBM_MEM;
    ASSERT_EQ(aclrtMemGetAllocationGranularity(&kind_, ACL_RT_MEM_ALLOC_GRANULARITY_MINIMUM, &unit_),
              ACL_SUCCESS);
    ASSERT_EQ(aclrtReserveMemAddress(&range_, 2 * unit_, 0, nullptr, 0), ACL_SUCCESS);
    ASSERT_EQ(aclrtMallocPhysical(&memory_, unit_, &kind_, 0), ACL_SUCCESS);
  }

  int fill(void* address, int value) { return aclrtMemset(address, 64, value, 64); }
  int first_byte(void* address) {
    unsigned char seen = 0;
    EXPECT_EQ(aclrtMemcpy(&seen, 1, address, 1, ACL_MEMCPY_DEVICE_TO_HOST), ACL_SUCCESS);
    return seen;
  }

  aclrtPhysicalMemProp kind_{};
  std::size_t unit_ = 0;
  void* range_ = nullptr;
  aclrtDrvMemHandle memory_ = nullptr;
};

TEST_F(acl_mapping, memory_has_the_address_that_it_is_mapped_to_as_long_as_it_is) {
  EXPECT_NE(fill(range_, 1), ACL_SUCCESS);
  ASSERT_EQ(aclrtMapMem(range_, unit_, 0, memory_, 0), ACL_SUCCESS);
  ASSERT_EQ(fill(range_, 7), ACL_SUCCESS);
  EXPECT_EQ(first_byte(range_), 7);
  auto* const stream = make_stream();
  ASSERT_EQ(aclrtMemsetAsync(range_, 64, 8, 64, stream), ACL_SUCCESS);
  ASSERT_EQ(aclrtSynchronizeStream(stream), ACL_SUCCESS);
  EXPECT_EQ(first_byte(range_), 8);
  void* const behind = static_cast<char*>(range_) + unit_;
  ASSERT_EQ(aclrtMapMem(behind, unit_, 0, memory_, 0), ACL_SUCCESS);
  EXPECT_EQ(first_byte(behind), 8);  // the same memory
  EXPECT_EQ(aclrtReleaseMemAddress(range_), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(aclrtFreePhysical(memory_), ACL_SUCCESS);
  EXPECT_EQ(aclrtFreePhysical(memory_), ACL_ERROR_RT_INVALID_HANDLE);
  EXPECT_EQ(first_byte(behind), 8);
  ASSERT_EQ(aclrtUnmapMem(range_), ACL_SUCCESS);
  EXPECT_NE(fill(range_, 1), ACL_SUCCESS);
  ASSERT_EQ(aclrtUnmapMem(behind), ACL_SUCCESS);
  EXPECT_EQ(aclrtReleaseMemAddress(range_), ACL_SUCCESS);
}

TEST_F(acl_mapping, every_context_of_the_device_may_use_what_is_mapped_whenever_it_was_made) {
  ASSERT_EQ(aclrtMapMem(range_, unit_, 0, memory_, 0), ACL_SUCCESS);
  ASSERT_EQ(fill(range_, 7), ACL_SUCCESS);
  aclrtContext mine = nullptr;
  aclrtContext later = nullptr;
  ASSERT_EQ(aclrtGetCurrentContext(&mine), ACL_SUCCESS);
  ASSERT_EQ(aclrtCreateContext(&later, 0), ACL_SUCCESS);
  EXPECT_EQ(first_byte(range_), 7);
  void* other = nullptr;
  ASSERT_EQ(aclrtReserveMemAddress(&other, unit_, 0, nullptr, 0), ACL_SUCCESS);
  ASSERT_EQ(aclrtMapMem(other, unit_, 0, memory_, 0), ACL_SUCCESS);
  ASSERT_EQ(aclrtDestroyContext(later), ACL_SUCCESS);
  ASSERT_EQ(aclrtSetCurrentContext(mine), ACL_SUCCESS);
  EXPECT_EQ(first_byte(other), 7);
  for (void* each : {range_, other}) {
    EXPECT_EQ(aclrtUnmapMem(each), ACL_SUCCESS);
    EXPECT_EQ(aclrtReleaseMemAddress(each), ACL_SUCCESS);
  }
  EXPECT_EQ(aclrtFreePhysical(memory_), ACL_SUCCESS);
}

TEST_F(acl_mapping, a_program_may_take_rights_away_from_contexts_there_are_and_will_be) {
  ASSERT_EQ(aclrtMapMem(range_, unit_, 0, memory_, 0), ACL_SUCCESS);
  ASSERT_EQ(fill(range_, 7), ACL_SUCCESS);
  aclrtMemAccessDesc wanted{};
  wanted.location.type = ACL_MEM_LOCATION_TYPE_DEVICE;
  wanted.flags = ACL_RT_MEM_ACCESS_FLAGS_READWRITE;
  EXPECT_EQ(aclrtMemSetAccess(range_, unit_, &wanted, 1), ACL_SUCCESS);  // a part, as it is
  wanted.flags = ACL_RT_MEM_ACCESS_FLAGS_READ;
  EXPECT_EQ(aclrtMemSetAccess(range_, unit_, &wanted, 1), ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
  EXPECT_EQ(aclrtMemSetAccess(range_, 3 * unit_, &wanted, 1), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(aclrtMemSetAccess(range_, 2 * unit_, &wanted, 4711), ACL_ERROR_RT_PARAM_INVALID);
  ASSERT_EQ(aclrtMemSetAccess(range_, 2 * unit_, &wanted, 1), ACL_SUCCESS);
  EXPECT_EQ(first_byte(range_), 7);
  EXPECT_EQ(fill(range_, 8), ACL_ERROR_RT_PARAM_INVALID);
  aclrtContext mine = nullptr;
  aclrtContext later = nullptr;
  ASSERT_EQ(aclrtGetCurrentContext(&mine), ACL_SUCCESS);
  ASSERT_EQ(aclrtCreateContext(&later, 0), ACL_SUCCESS);
  EXPECT_EQ(first_byte(range_), 7);
  EXPECT_EQ(fill(range_, 8), ACL_ERROR_RT_PARAM_INVALID);
  ASSERT_EQ(aclrtDestroyContext(later), ACL_SUCCESS);
  ASSERT_EQ(aclrtSetCurrentContext(mine), ACL_SUCCESS);
  wanted.flags = ACL_RT_MEM_ACCESS_FLAGS_NONE;
  ASSERT_EQ(aclrtMemSetAccess(range_, 2 * unit_, &wanted, 1), ACL_SUCCESS);
  unsigned char seen = 0;
  EXPECT_EQ(aclrtMemcpy(&seen, 1, range_, 1, ACL_MEMCPY_DEVICE_TO_HOST),
            ACL_ERROR_RT_PARAM_INVALID);
  wanted.flags = enumerator<aclrtMemAccessFlags>(2);
  EXPECT_EQ(aclrtMemSetAccess(range_, 2 * unit_, &wanted, 1), ACL_ERROR_RT_PARAM_INVALID);
  wanted.location.id = 1;
  wanted.flags = ACL_RT_MEM_ACCESS_FLAGS_READ;
  EXPECT_EQ(aclrtMemSetAccess(range_, 2 * unit_, &wanted, 1), ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
  EXPECT_EQ(aclrtUnmapMem(range_), ACL_SUCCESS);
  EXPECT_EQ(aclrtReleaseMemAddress(range_), ACL_SUCCESS);
  EXPECT_EQ(aclrtFreePhysical(memory_), ACL_SUCCESS);
}

TEST_F(acl_mapping, E3_what_cannot_be_mapped_is_refused_and_changes_nothing) {
  char* const bytes = static_cast<char*>(range_);
  EXPECT_EQ(aclrtMapMem(bytes + 1, unit_, 0, memory_, 0), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(aclrtMapMem(range_, unit_ - 1, 0, memory_, 0), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(aclrtMapMem(range_, unit_, 8, memory_, 0), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(aclrtMapMem(&unit_, unit_, 0, memory_, 0), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(aclrtMapMem(range_, unit_, 0, range_, 0), ACL_ERROR_RT_INVALID_HANDLE);
  EXPECT_EQ(aclrtUnmapMem(range_), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(aclrtReleaseMemAddress(bytes + unit_), ACL_ERROR_RT_PARAM_INVALID);
  aclrtDrvMemHandle again = nullptr;
  EXPECT_EQ(aclrtMemRetainAllocationHandle(range_, &again), ACL_ERROR_RT_PARAM_INVALID);
  ASSERT_EQ(aclrtMapMem(range_, unit_, 0, memory_, 0), ACL_SUCCESS);
  EXPECT_EQ(aclrtMapMem(range_, unit_, 0, memory_, 0), ACL_ERROR_RT_PARAM_INVALID);
  ASSERT_EQ(aclrtMemRetainAllocationHandle(bytes + 5, &again), ACL_SUCCESS);
  EXPECT_NE(again, memory_);
  EXPECT_EQ(aclrtFreePhysical(memory_), ACL_SUCCESS);
  EXPECT_EQ(aclrtUnmapMem(range_), ACL_SUCCESS);
  ASSERT_EQ(aclrtMapMem(bytes + unit_, unit_, 0, again, 0), ACL_SUCCESS);
  EXPECT_EQ(aclrtUnmapMem(bytes + unit_), ACL_SUCCESS);
  EXPECT_EQ(aclrtFreePhysical(again), ACL_SUCCESS);
  EXPECT_EQ(aclrtReserveMemAddress(&range_, unit_, 0, &unit_, 0), ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
  kind_.location.type = ACL_MEM_LOCATION_TYPE_HOST;
  EXPECT_EQ(aclrtMallocPhysical(&again, unit_, &kind_, 0), ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
  EXPECT_EQ(aclrtReleaseMemAddress(bytes), ACL_SUCCESS);
}

}  // namespace
