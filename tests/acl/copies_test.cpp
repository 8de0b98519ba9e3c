#include <numeric>
#include <vector>

#include "tests/acl/acl_fixture.hpp"

namespace {

class acl_copies : public acl_test {
 protected:
  void SetUp() override {
    acl_test::SetUp();
    stream_ = make_stream();
    ASSERT_EQ(aclrtMalloc(&device_, bytes, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
    ASSERT_EQ(aclrtMemset(device_, bytes, 0, bytes), ACL_SUCCESS);
    std::iota(host_.begin(), host_.end(), static_cast<unsigned char>(1));
  }

  std::vector<unsigned char> contents() {
    std::vector<unsigned char> seen(bytes);
    EXPECT_EQ(aclrtMemcpy(seen.data(), bytes, device_, bytes, ACL_MEMCPY_DEVICE_TO_HOST),
              ACL_SUCCESS);
    return seen;
  }
  [[nodiscard]] unsigned char* at(std::size_t offset) const {
    return static_cast<unsigned char*>(device_) + offset;
  }

  static constexpr std::size_t bytes = 128;
  aclrtStream stream_ = nullptr;
  void* device_ = nullptr;
  std::vector<unsigned char> host_ = std::vector<unsigned char>(bytes);
};

TEST_F(acl_copies, D1_with_a_condition_ordinary_memory_makes_the_caller_wait) {
  ASSERT_EQ(aclrtMemcpyAsyncWithCondition(device_, bytes, host_.data(), bytes,
                                          ACL_MEMCPY_HOST_TO_DEVICE, stream_),
            ACL_SUCCESS);
  EXPECT_EQ(contents(), host_);  // without a wait for the stream
  EXPECT_EQ(aclrtMemcpyAsyncWithCondition(device_, bytes, host_.data(), bytes,
                                          ACL_MEMCPY_DEVICE_TO_HOST, stream_),
            ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(aclrtMemcpyAsyncWithCondition(nullptr, bytes, host_.data(), bytes,
                                          ACL_MEMCPY_HOST_TO_DEVICE, stream_),
            ACL_ERROR_INVALID_PARAM);
}

TEST_F(acl_copies, D5_rows_go_to_their_places_and_nothing_between_them_is_touched) {
  ASSERT_EQ(aclrtMemcpy2d(device_, 16, host_.data(), 8, 4, 3, ACL_MEMCPY_HOST_TO_DEVICE),
            ACL_SUCCESS);
  auto wanted = std::vector<unsigned char>(bytes, 0);
  for (std::size_t row = 0; row < 3; ++row) {
    for (std::size_t i = 0; i < 4; ++i)
      wanted[16 * row + i] = host_[8 * row + i];
  }
  EXPECT_EQ(contents(), wanted);
  std::vector<unsigned char> back(12, 0);
  ASSERT_EQ(aclrtMemcpy2dAsync(back.data(), 4, device_, 16, 4, 3, ACL_MEMCPY_DEVICE_TO_HOST, stream_),
            ACL_SUCCESS);
  ASSERT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
  EXPECT_EQ(back[4], host_[8]);
}

TEST_F(acl_copies, D3_rows_that_cannot_be_are_refused) {
  const auto up = ACL_MEMCPY_HOST_TO_DEVICE;
  EXPECT_EQ(aclrtMemcpy2d(device_, 3, host_.data(), 8, 4, 3, up), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(aclrtMemcpy2d(device_, 512, host_.data(), 4, 4, 3, up), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(aclrtMemcpy2d(nullptr, 4, host_.data(), 4, 4, 3, up), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtMemcpy2d(nullptr, 4, nullptr, 4, 0, 3, up), ACL_SUCCESS);
  EXPECT_EQ(aclrtMemcpy2dAsync(device_, 4, host_.data(), 4, 4, 3, ACL_MEMCPY_DEVICE_TO_HOST,
                               stream_),
            ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(aclrtMemcpy2dAsync(device_, 4, host_.data(), 4, 4, 3,
                               enumerator<aclrtMemcpyKind>(99), stream_),
            ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(contents(), std::vector<unsigned char>(bytes, 0));
}

// Three pieces of 8 bytes to places 32 bytes apart.
struct pieces {
  explicit pieces(unsigned char* device, unsigned char* host)
      : targets{device, device + 32, device + 64}, sources{host, host + 8, host + 16} {
    kind.dstLoc.type = ACL_MEM_LOCATION_TYPE_DEVICE;
    kind.srcLoc.type = ACL_MEM_LOCATION_TYPE_HOST;
  }
  void* targets[3];
  std::size_t room[3] = {8, 8, 8};
  void* sources[3];
  std::size_t sizes[3] = {8, 8, 8};
  aclrtMemcpyBatchAttr kind{};
  std::size_t begin = 0;
  std::size_t failed = 4711;

  int copy() {
    return aclrtMemcpyBatch(targets, room, sources, sizes, 3, &kind, &begin, 1, &failed);
  }
  int copy(aclrtStream stream) {
    return aclrtMemcpyBatchAsync(targets, room, sources, sizes, 3, &kind, &begin, 1, &failed,
                                 stream);
  }
};

TEST_F(acl_copies, D5_a_batch_makes_all_its_copies) {
  pieces now(at(0), host_.data());
  ASSERT_EQ(now.copy(), ACL_SUCCESS);
  EXPECT_EQ(now.failed, SIZE_MAX);
  EXPECT_EQ(contents()[32], host_[8]);
  EXPECT_EQ(contents()[71], host_[23]);
  EXPECT_EQ(contents()[8], 0);
  host_[8] = 200;
  ASSERT_EQ(now.copy(stream_), ACL_SUCCESS);
  ASSERT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
  EXPECT_EQ(contents()[32], 200);
}

TEST_F(acl_copies, D3_a_batch_with_a_bad_copy_copies_nothing_and_names_it) {
  pieces now(at(0), host_.data());
  now.room[1] = 7;
  EXPECT_EQ(now.copy(), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(now.failed, 1U);
  now.room[1] = 8;
  now.targets[2] = at(4096);
  EXPECT_EQ(now.copy(stream_), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(now.failed, 2U);
  now.targets[2] = at(64);
  now.begin = 1;
  EXPECT_EQ(now.copy(), ACL_ERROR_RT_PARAM_INVALID);
  now.begin = 0;
  now.kind.srcLoc.type = ACL_MEM_LOCATION_TYPE_UNREGISTERED;
  EXPECT_EQ(now.copy(), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(aclrtMemcpyBatch(now.targets, now.room, now.sources, now.sizes, 3, nullptr, &now.begin,
                             1, &now.failed),
            ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(contents(), std::vector<unsigned char>(bytes, 0));
}

TEST_F(acl_copies, D1_a_copy_from_registered_memory_reads_it_when_it_runs) {
  void* on_device = nullptr;
  ASSERT_EQ(aclrtHostRegister(host_.data(), bytes, ACL_HOST_REGISTER_MAPPED, &on_device),
            ACL_SUCCESS);
  EXPECT_EQ(on_device, host_.data());
  gate held;
  ASSERT_EQ(aclrtLaunchHostFunc(stream_, &gate::wait, &held), ACL_SUCCESS);
  ASSERT_EQ(aclrtMemcpyAsync(device_, bytes, host_.data(), bytes, ACL_MEMCPY_HOST_TO_DEVICE,
                             stream_),
            ACL_SUCCESS);  // at once, though its stream is held
  host_[0] = 99;
  held.let_go();
  ASSERT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
  EXPECT_EQ(contents()[0], 99);
  EXPECT_EQ(aclrtHostUnregister(host_.data()), ACL_SUCCESS);
  EXPECT_EQ(aclrtHostUnregister(host_.data()), ACL_ERROR_RT_PARAM_INVALID);
}

TEST_F(acl_copies, host_memory_is_registered_once_and_only_the_programs_own) {
  void* pinned = nullptr;
  void* seen = nullptr;
  ASSERT_EQ(aclrtMallocHost(&pinned, 64), ACL_SUCCESS);
  ASSERT_EQ(aclrtHostRegisterV2(&host_[32], 32, ACL_HOST_REG_MAPPED), ACL_SUCCESS);
  EXPECT_EQ(aclrtHostRegisterV2(&host_[32], 32, ACL_HOST_REG_MAPPED), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(aclrtHostRegisterV2(host_.data(), 33, ACL_HOST_REG_PINNED), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(aclrtHostRegisterV2(&host_[63], 2, ACL_HOST_REG_MAPPED), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(aclrtHostRegisterV2(host_.data(), 32, ACL_HOST_REG_PINNED), ACL_SUCCESS);
  EXPECT_EQ(aclrtHostRegisterV2(pinned, 64, ACL_HOST_REG_MAPPED), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(aclrtHostRegisterV2(device_, 64, ACL_HOST_REG_MAPPED), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(aclrtHostRegisterV2(&host_[64], 8, 0x4), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(aclrtHostRegisterV2(nullptr, 8, ACL_HOST_REG_MAPPED), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtHostGetDevicePointer(&host_[40], &seen, 0), ACL_SUCCESS);
  EXPECT_EQ(seen, &host_[40]);
  EXPECT_EQ(aclrtHostGetDevicePointer(&host_[64], &seen, 0), ACL_ERROR_RT_PARAM_INVALID);
  aclrtPtrAttributes what{};
  ASSERT_EQ(aclrtPointerGetAttributes(&host_[40], &what), ACL_SUCCESS);
  EXPECT_EQ(what.location.type, ACL_MEM_LOCATION_TYPE_HOST);
  EXPECT_EQ(aclrtHostUnregister(host_.data()), ACL_SUCCESS);
  EXPECT_EQ(aclrtHostUnregister(&host_[32]), ACL_SUCCESS);
  EXPECT_EQ(aclrtFreeHost(pinned), ACL_SUCCESS);
}

}  // namespace
