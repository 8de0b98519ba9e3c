#include <string>
#include <thread>
#include <vector>

#include "actors/scheduling/thread_sanitizer.hpp"
#include "tests/acl/acl_fixture.hpp"
#include "tests/acl/fuzz/subjects.hpp"

namespace {

class acl_fuzz : public acl_test {
 protected:
  void SetUp() override {
    acl_test::SetUp();
    ASSERT_EQ(aclrtGetCurrentContext(&context_), ACL_SUCCESS);
  }
  void TearDown() override {
    auto mode = ACL_MODEL_RI_CAPTURE_MODE_GLOBAL;
    EXPECT_EQ(aclmdlRICaptureThreadExchangeMode(&mode), ACL_SUCCESS);
    EXPECT_EQ(aclrtSetOpWaitTimeout(0), ACL_SUCCESS);
    EXPECT_EQ(aclrtSetOpExecuteTimeOut(0), ACL_SUCCESS);
    EXPECT_EQ(aclrtSetCurrentContext(context_), ACL_SUCCESS);
    acl_test::TearDown();
  }

  aclrtContext context_ = nullptr;
};

// What a refused call must not change.
struct state {
  std::size_t free = 0;
  aclrtContext context = nullptr;
  int last_error = 0;
};

state look() {
  state seen;
  seen.last_error = aclrtPeekAtLastError(ACL_RT_THREAD_LEVEL);
  std::size_t total = 0;
  EXPECT_EQ(aclrtGetMemInfo(ACL_HBM_MEM, &seen.free, &total), ACL_SUCCESS);
  EXPECT_EQ(aclrtGetCurrentContext(&seen.context), ACL_SUCCESS);
  return seen;
}

bool is_of_outer_checks(int code) {
  return code / 1000 == 100;
}

TEST_F(acl_fuzz, every_function_of_the_library_is_called_or_it_is_said_why_not) {
  EXPECT_GT(subjects().size(), 150U);
  for (const auto& [name, why] : not_here()) {
    for (const auto& each : subjects())
      EXPECT_STRNE(each.name, name);
  }
}

TEST_F(acl_fuzz, F5_a_refused_call_has_a_code_of_the_callers_and_changes_nothing) {
  material from(1);
  const std::string other = "aclrtGetLastError";  // takes the last error away
  for (int round = 0; round < 60; ++round) {
    for (const auto& each : subjects()) {
      from.clear();
      const auto before = look();
      const auto told = each.strike(from);
      if (told <= 0 || each.name == other) continue;
      ASSERT_TRUE(is_callers_or_resources(told)) << each.name << ": " << told;
      // A batch tells which copy was at fault.
      const bool tells = std::string(each.name).find("MemcpyBatch") != std::string::npos;
      EXPECT_TRUE(tells || from.is_clear()) << each.name << " answered " << told << " and wrote";
      const auto after = look();
      // More may be free: what earlier calls freed while work used it comes back when that ends.
      EXPECT_GE(after.free, before.free) << each.name << " answered " << told;
      EXPECT_EQ(after.context, before.context) << each.name << " answered " << told;
      EXPECT_EQ(after.last_error, is_of_outer_checks(told) ? before.last_error : told)
          << each.name;
    }
  }
  EXPECT_EQ(aclrtSynchronizeDevice(), ACL_SUCCESS);
}

TEST_F(acl_fuzz, F5_no_argument_crashes_a_call_of_several_threads) {
  if (troupe::under_thread_sanitizer) {
    GTEST_SKIP() << "the threads write the same bytes, as careless programs do: races of their own";
  }
  std::vector<std::thread> threads;
  for (std::uint64_t seed = 2; seed <= 4; ++seed) {
    threads.emplace_back([&, seed] {
      ASSERT_EQ(aclrtSetCurrentContext(context_), ACL_SUCCESS);
      material from(seed);
      for (int round = 0; round < 100; ++round) {
        for (const auto& each : subjects()) {
          from.clear();
          const auto told = each.strike(from);
          ASSERT_TRUE(told == -1 || is_callers_or_resources(told)) << each.name << ": " << told;
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
  EXPECT_EQ(aclrtSynchronizeStream(event), ACL_ERROR_RT_INVALID_HANDLE);
  EXPECT_EQ(aclrtSynchronizeStream(context_), ACL_ERROR_RT_INVALID_HANDLE);
  EXPECT_EQ(aclrtDestroyEvent(stream), ACL_ERROR_RT_INVALID_HANDLE);
  EXPECT_EQ(aclrtDestroyContext(stream), ACL_ERROR_RT_INVALID_HANDLE);
  EXPECT_EQ(aclrtRecordEvent(stream, stream), ACL_ERROR_RT_INVALID_HANDLE);
  EXPECT_EQ(aclrtSynchronizeStream(stream), ACL_SUCCESS);
}

TEST_F(acl_fuzz, an_object_of_data_that_was_destroyed_is_recognised) {
  auto* const buffer = aclCreateDataBuffer(&context_, 8);
  ASSERT_EQ(aclDestroyDataBuffer(buffer), ACL_SUCCESS);
  EXPECT_EQ(aclDestroyDataBuffer(buffer), ACL_ERROR_RT_INVALID_HANDLE);
  EXPECT_EQ(aclUpdateDataBuffer(buffer, &context_, 8), ACL_ERROR_RT_INVALID_HANDLE);
  EXPECT_EQ(aclGetDataBufferAddr(buffer), nullptr);
  auto* const data = aclmdlCreateDataset();
  EXPECT_EQ(aclmdlAddDatasetBuffer(data, buffer), ACL_ERROR_RT_INVALID_HANDLE);
  EXPECT_EQ(aclmdlGetDatasetNumBuffers(data), 0U);
  EXPECT_EQ(aclmdlDestroyDataset(data), ACL_SUCCESS);
  auto* const tensor = aclCreateTensorDesc(ACL_FLOAT, 0, nullptr, ACL_FORMAT_ND);
  aclDestroyTensorDesc(tensor);
  EXPECT_EQ(aclSetTensorFormat(tensor, ACL_FORMAT_ND), ACL_ERROR_RT_INVALID_HANDLE);
  EXPECT_EQ(aclGetTensorDescType(tensor), ACL_DT_UNDEFINED);
}

}  // namespace
