#include <array>
#include <string>
#include <thread>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "tests/acl/acl_fixture.hpp"

namespace {

using acl_fuzz = acl_test;

// Values of each type that no call can do anything with. A pointer to where a result goes is null
// or good, as C cannot tell others; a handle may be anything.
struct material {
  std::vector<void*> handles;
  alignas(64) std::array<unsigned char, 4096> scratch{};

  template <class T>
  T pick(std::uint64_t& draw) {
    const auto number = draw % 5;
    draw = draw * 6364136223846793005ULL + 1442695040888963407ULL;
    if constexpr (std::is_same_v<T, void*> || std::is_same_v<T, const void*>) {
      return handles[(draw >> 33) % handles.size()];
    } else if constexpr (std::is_pointer_v<T> && std::is_function_v<std::remove_pointer_t<T>>) {
      return nullptr;
    } else if constexpr (std::is_same_v<T, const char*>) {
      return number < 2 ? nullptr : "/nonexistent/x";
    } else if constexpr (std::is_pointer_v<T>) {
      using target = std::remove_const_t<std::remove_pointer_t<T>>;
      scratch.fill(0);
      return number < 2 ? nullptr : reinterpret_cast<target*>(scratch.data());
    } else if constexpr (std::is_enum_v<T>) {
      return static_cast<T>(std::array{-1, 0, 1, 4711, 1 << 30}[number]);
    } else {
      return static_cast<T>(std::array<std::int64_t, 5>{0, 1, -7, 4711, INT64_MAX}[number]);
    }
  }
};

// One call of `function` with what `from` gives; its code.
template <class... Args>
int strike(aclError (*function)(Args...), material& from, std::uint64_t& draw) {
  std::tuple<Args...> arguments{from.pick<Args>(draw)...};
  return std::apply(function, arguments);
}

bool is_callers_or_resources(int code) {
  return code == 0 || code / 100000 == 1 || code / 100000 == 2;
}

struct subject {
  const char* name;
  int (*strike)(material&, std::uint64_t&);
};

#define SUBJECT(function)                                                                     \
  subject {                                                                                   \
#function,                                                                                \
        [](material & from, std::uint64_t & draw) { return strike(&(function), from, draw); } \
  }

// Not here: what reads or writes at any address it is given, ends the interface, or may wait.
const std::vector<subject> subjects{
    SUBJECT(aclGetCannAttribute),
    SUBJECT(aclGetDeviceCapability),
    SUBJECT(aclrtGetDeviceResLimit),
    SUBJECT(aclrtGetPrimaryCtxState),
    SUBJECT(aclrtGetResInCurrentThread),
    SUBJECT(aclrtGetStreamResLimit),
    SUBJECT(aclrtGetSysParamOpt),
    SUBJECT(aclrtSetDeviceSatMode),
    SUBJECT(aclrtSetSysParamOpt),
    SUBJECT(aclrtAllocatorDestroyDesc),
    SUBJECT(aclrtAllocatorRegister),
    SUBJECT(aclrtAllocatorSetAllocFuncToDesc),
    SUBJECT(aclrtAllocatorSetObjToDesc),
    SUBJECT(aclrtAllocatorUnregister),
    SUBJECT(aclrtBinaryGetFunction),
    SUBJECT(aclrtBinaryLoadFromFile),
    SUBJECT(aclrtBinaryUnLoad),
    SUBJECT(aclrtCreateEvent),
    SUBJECT(aclrtCreateEventExWithFlag),
    SUBJECT(aclrtCreateEventWithFlag),
    SUBJECT(aclrtCreateStream),
    SUBJECT(aclrtCreateStreamWithConfig),
    SUBJECT(aclrtDestroyContext),
    SUBJECT(aclrtDestroyEvent),
    SUBJECT(aclrtDestroyStream),
    SUBJECT(aclrtDestroyStreamForce),
    SUBJECT(aclrtDeviceCanAccessPeer),
    SUBJECT(aclrtDeviceDisablePeerAccess),
    SUBJECT(aclrtDeviceEnablePeerAccess),
    SUBJECT(aclrtDeviceGetUuid),
    SUBJECT(aclrtEventElapsedTime),
    SUBJECT(aclrtFree),
    SUBJECT(aclrtFreeHost),
    SUBJECT(aclrtGetCurrentContext),
    SUBJECT(aclrtGetDevice),
    SUBJECT(aclrtGetDeviceCount),
    SUBJECT(aclrtGetDeviceInfo),
    SUBJECT(aclrtGetDeviceUtilizationRate),
    SUBJECT(aclrtGetLogicDevIdByUserDevId),
    SUBJECT(aclrtGetMemInfo),
    SUBJECT(aclrtGetPhyDevIdByLogicDevId),
    SUBJECT(aclrtGetRunMode),
    SUBJECT(aclrtGetStreamOverflowSwitch),
    SUBJECT(aclrtGetVersion),
    SUBJECT(aclrtLaunchCallback),
    SUBJECT(aclrtLaunchHostFunc),
    SUBJECT(aclrtMemFlush),
    SUBJECT(aclrtMemInvalidate),
    SUBJECT(aclrtMemset),
    SUBJECT(aclrtMemsetAsync),
    SUBJECT(aclrtPointerGetAttributes),
    SUBJECT(aclrtQueryEvent),
    SUBJECT(aclrtQueryEventStatus),
    SUBJECT(aclrtRecordEvent),
    SUBJECT(aclrtResetEvent),
    SUBJECT(aclrtSetCurrentContext),
    SUBJECT(aclrtSetStreamAttribute),
    SUBJECT(aclrtSetStreamOverflowSwitch),
    SUBJECT(aclrtSetTsDevice),
    SUBJECT(aclrtStreamAbort),
    SUBJECT(aclrtStreamGetId),
    SUBJECT(aclrtStreamQuery),
    SUBJECT(aclrtStreamWaitEvent),
    SUBJECT(aclrtSubscribeReport),
    SUBJECT(aclrtSynchronizeEvent),
    SUBJECT(aclrtSynchronizeEventWithTimeout),
    SUBJECT(aclrtSynchronizeStream),
    SUBJECT(aclrtSynchronizeStreamWithTimeout),
    SUBJECT(aclrtUnSubscribeReport),
};
#undef SUBJECT

// Null, foreign, interior (moved by a few bytes), stale, and made of all ones.
std::vector<void*> bad_handles(void* foreign) {
  aclrtStream stream = nullptr;
  aclrtEvent event = nullptr;
  aclrtContext context = nullptr;
  EXPECT_EQ(aclrtCreateStream(&stream), ACL_SUCCESS);
  EXPECT_EQ(aclrtCreateEvent(&event), ACL_SUCCESS);
  EXPECT_EQ(aclrtGetCurrentContext(&context), ACL_SUCCESS);
  EXPECT_EQ(aclrtDestroyStream(stream), ACL_SUCCESS);
  EXPECT_EQ(aclrtDestroyEvent(event), ACL_SUCCESS);
  return {nullptr,
          foreign,
          stream,
          event,
          static_cast<char*>(context) + 5,
          static_cast<char*>(context) + 64,
          reinterpret_cast<void*>(~0ULL)};
}

TEST_F(acl_fuzz, F5_no_argument_crashes_a_call_or_is_blamed_on_the_runtime) {
  aclrtContext context = nullptr;
  ASSERT_EQ(aclrtGetCurrentContext(&context), ACL_SUCCESS);
  std::vector<std::thread> threads;
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    threads.emplace_back([&, seed] {
      ASSERT_EQ(aclrtSetCurrentContext(context), ACL_SUCCESS);
      material from;
      from.handles = bad_handles(from.scratch.data());
      auto draw = seed;
      for (int round = 0; round < 200; ++round) {
        for (const auto& each : subjects) {
          const auto told = each.strike(from, draw);
          ASSERT_TRUE(is_callers_or_resources(told)) << each.name << ": " << told;
        }
      }
    });
  }
  for (auto& each : threads)
    each.join();
  auto* const stream = make_stream();
  EXPECT_EQ(aclrtSynchronizeStream(stream), ACL_SUCCESS);
}

TEST_F(acl_fuzz, a_handle_of_another_kind_is_refused) {
  auto* const stream = make_stream();
  auto* const event = make_event();
  aclrtContext context = nullptr;
  ASSERT_EQ(aclrtGetCurrentContext(&context), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStream(event), ACL_ERROR_RT_INVALID_HANDLE);
  EXPECT_EQ(aclrtSynchronizeStream(context), ACL_ERROR_RT_INVALID_HANDLE);
  EXPECT_EQ(aclrtDestroyEvent(stream), ACL_ERROR_RT_INVALID_HANDLE);
  EXPECT_EQ(aclrtDestroyContext(stream), ACL_ERROR_RT_INVALID_HANDLE);
  EXPECT_EQ(aclrtRecordEvent(stream, stream), ACL_ERROR_RT_INVALID_HANDLE);
  EXPECT_EQ(aclrtSynchronizeStream(stream), ACL_SUCCESS);
}

}  // namespace
