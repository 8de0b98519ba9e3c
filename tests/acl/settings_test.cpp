#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

#include <unistd.h>

#include "tests/acl/acl_fixture.hpp"

namespace {

using acl_settings = acl_test;

TEST_F(acl_settings, options_of_a_context_are_its_own) {
  std::int64_t value = 4711;
  EXPECT_EQ(aclrtCtxGetSysParamOpt(ACL_OPT_DETERMINISTIC, &value), ACL_ERROR_RT_SYSPARAMOPT_NOT_SET);
  EXPECT_EQ(aclrtCtxSetSysParamOpt(ACL_OPT_DETERMINISTIC, 2), ACL_ERROR_RT_PARAM_INVALID);
  ASSERT_EQ(aclrtCtxSetSysParamOpt(ACL_OPT_DETERMINISTIC, 1), ACL_SUCCESS);
  ASSERT_EQ(aclrtCtxGetSysParamOpt(ACL_OPT_DETERMINISTIC, &value), ACL_SUCCESS);
  EXPECT_EQ(value, 1);
  aclrtContext other = nullptr;
  ASSERT_EQ(aclrtCreateContext(&other, 0), ACL_SUCCESS);
  EXPECT_EQ(aclrtCtxGetSysParamOpt(ACL_OPT_DETERMINISTIC, &value), ACL_ERROR_RT_SYSPARAMOPT_NOT_SET);
  EXPECT_EQ(aclrtDestroyContext(other), ACL_SUCCESS);
  EXPECT_EQ(aclrtCtxGetSysParamOpt(ACL_OPT_DETERMINISTIC, &value), ACL_ERROR_RT_CONTEXT_NULL);
}

TEST_F(acl_settings, limits_on_cores_go_from_device_to_stream_to_thread) {
  const auto cube = ACL_RT_DEV_RES_CUBE_CORE;
  std::uint32_t most = 0;
  std::uint32_t seen = 0;
  ASSERT_EQ(aclrtGetDeviceResLimit(0, cube, &most), ACL_SUCCESS);
  EXPECT_EQ(aclrtSetDeviceResLimit(0, cube, most + 1), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(aclrtSetDeviceResLimit(0, cube, 0), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(aclrtSetDeviceResLimit(4711, cube, 1), ACL_ERROR_RT_INVALID_DEVICEID);
  ASSERT_EQ(aclrtSetDeviceResLimit(0, cube, 8), ACL_SUCCESS);
  auto* const stream = make_stream();
  ASSERT_EQ(aclrtGetStreamResLimit(stream, cube, &seen), ACL_SUCCESS);
  EXPECT_EQ(seen, 8U);
  ASSERT_EQ(aclrtSetStreamResLimit(stream, cube, 4), ACL_SUCCESS);
  ASSERT_EQ(aclrtGetStreamResLimit(stream, cube, &seen), ACL_SUCCESS);
  EXPECT_EQ(seen, 4U);
  ASSERT_EQ(aclrtGetResInCurrentThread(cube, &seen), ACL_SUCCESS);
  EXPECT_EQ(seen, 8U);
  EXPECT_EQ(aclrtUnuseStreamResInCurrentThread(stream), ACL_ERROR_RT_PARAM_INVALID);
  ASSERT_EQ(aclrtUseStreamResInCurrentThread(stream), ACL_SUCCESS);
  ASSERT_EQ(aclrtGetResInCurrentThread(cube, &seen), ACL_SUCCESS);
  EXPECT_EQ(seen, 4U);
  ASSERT_EQ(aclrtUnuseStreamResInCurrentThread(stream), ACL_SUCCESS);
  ASSERT_EQ(aclrtResetStreamResLimit(stream), ACL_SUCCESS);
  ASSERT_EQ(aclrtResetDeviceResLimit(0), ACL_SUCCESS);
  ASSERT_EQ(aclrtGetStreamResLimit(stream, cube, &seen), ACL_SUCCESS);
  EXPECT_EQ(seen, most);
}

TEST_F(acl_settings, the_default_stream_has_settings_and_reports_as_others_do) {
  std::uint32_t flag = 7;
  ASSERT_EQ(aclrtSetStreamOverflowSwitch(nullptr, 1), ACL_SUCCESS);
  ASSERT_EQ(aclrtGetStreamOverflowSwitch(nullptr, &flag), ACL_SUCCESS);
  EXPECT_EQ(flag, 1U);
  std::atomic<int> ran = 0;
  const auto count_up = [](void* counter) { ++*static_cast<std::atomic<int>*>(counter); };
  const auto mine = static_cast<std::uint64_t>(pthread_self());
  ASSERT_EQ(aclrtSubscribeReport(mine, nullptr), ACL_SUCCESS);
  ASSERT_EQ(aclrtLaunchCallback(count_up, &ran, ACL_CALLBACK_BLOCK, nullptr), ACL_SUCCESS);
  EXPECT_EQ(aclrtProcessReport(-1), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStream(nullptr), ACL_SUCCESS);
  EXPECT_EQ(aclrtUnSubscribeReport(mine, nullptr), ACL_SUCCESS);
  EXPECT_EQ(ran, 1);
}

TEST_F(acl_settings, the_version_is_that_of_the_interface) {
  aclCANNPackageVersion version{};
  ASSERT_EQ(aclsysGetCANNVersion(ACL_PKG_NAME_CANN, &version), ACL_SUCCESS);
  EXPECT_STREQ(version.version, "1.15.0");
  EXPECT_STREQ(version.minorVersion, "15");
  EXPECT_EQ(aclsysGetCANNVersion(ACL_PKG_NAME_DRIVER, &version), ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
  EXPECT_EQ(aclsysGetCANNVersion(enumerator<aclCANNPackageName>(8), &version),
            ACL_ERROR_INVALID_PARAM);
  char package[] = "runtime";
  char other[] = "driver";
  char text[ACL_PKG_VERSION_MAX_SIZE] = "kept";
  EXPECT_EQ(aclsysGetVersionStr(other, text), ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
  EXPECT_STREQ(text, "kept");
  ASSERT_EQ(aclsysGetVersionStr(package, text), ACL_SUCCESS);
  EXPECT_STREQ(text, "1.15.0");
}

TEST_F(acl_settings, memory_in_use_is_told_with_its_peak) {
  void* block = nullptr;
  ASSERT_EQ(aclrtMalloc(&block, 1 << 20, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
  aclrtMemUsageInfo seen[2] = {};
  std::size_t count = 0;
  ASSERT_EQ(aclrtGetMemUsageInfo(0, seen, 2, &count), ACL_SUCCESS);
  EXPECT_EQ(count, 1U);
  EXPECT_GE(seen[0].curMemSize, 1U << 20);
  EXPECT_GE(seen[0].memPeakSize, seen[0].curMemSize);
  EXPECT_EQ(aclrtGetMemUsageInfo(0, seen, 0, &count), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtFree(block), ACL_SUCCESS);
}

TEST_F(acl_settings, caches_need_no_care_but_the_arguments_are_checked) {
  void* block = nullptr;
  ASSERT_EQ(aclrtMalloc(&block, 64, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
  EXPECT_EQ(aclrtCmoAsync(block, 64, ACL_RT_CMO_TYPE_PREFETCH, nullptr), ACL_SUCCESS);
  EXPECT_EQ(aclrtCmoAsync(&block, 64, ACL_RT_CMO_TYPE_PREFETCH, nullptr),
            ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(aclrtCmoAsync(block, 64, enumerator<aclrtCmoType>(4), nullptr),
            ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtFree(block), ACL_SUCCESS);
}

TEST_F(acl_settings, there_is_one_process) {
  std::int32_t pid = 0;
  ASSERT_EQ(aclrtDeviceGetBareTgid(&pid), ACL_SUCCESS);
  EXPECT_EQ(pid, ::getpid());
  char key[ACL_IPC_HANDLE_SIZE] = "kept";
  EXPECT_EQ(aclrtIpcMemGetExportKey(key, 64, key, sizeof key, 0), ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
  EXPECT_STREQ(key, "kept");
  EXPECT_EQ(aclrtIpcGetEventHandle(make_event(), nullptr), ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
}

std::vector<char> kernels() {
  std::ifstream file(TROUPE_ACL_KERNELS, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST_F(acl_settings, kernels_are_loaded_from_bytes) {
  const auto image = kernels();
  ASSERT_FALSE(image.empty());
  aclrtBinHandle binary = nullptr;
  ASSERT_EQ(aclrtBinaryLoadFromData(image.data(), image.size(), nullptr, &binary), ACL_SUCCESS);
  aclrtFuncHandle function = nullptr;
  EXPECT_EQ(aclrtBinaryGetFunction(binary, "no_such_kernel", &function),
            ACL_ERROR_RT_KERNEL_LOOKUP);
  EXPECT_EQ(aclrtBinaryGetFunction(binary, "add", &function), ACL_SUCCESS);
  EXPECT_EQ(aclrtBinaryUnLoad(binary), ACL_SUCCESS);
}

TEST_F(acl_settings, bytes_that_are_no_whole_shared_object_are_refused) {
  auto image = kernels();
  aclrtBinHandle binary = nullptr;
  for (const auto size : {std::size_t{1}, std::size_t{63}, std::size_t{64}, std::size_t{200},
                          image.size() / 4}) {
    EXPECT_EQ(aclrtBinaryLoadFromData(image.data(), size, nullptr, &binary),
              ACL_ERROR_RT_PARAM_INVALID)
        << size;
  }
  image[1] = 'X';
  EXPECT_EQ(aclrtBinaryLoadFromData(image.data(), image.size(), nullptr, &binary),
            ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(aclrtBinaryLoadFromData(nullptr, 8, nullptr, &binary), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(binary, nullptr);
}

}  // namespace
