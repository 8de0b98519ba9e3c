// Branches of captured graphs: what runs, how often, and what is refused.

#include "tests/acl/acl_fixture.hpp"

namespace {

class acl_branches : public acl_test {
 protected:
  void SetUp() override {
    acl_test::SetUp();
    stream_ = make_stream();
    side_ = make_stream();
    ASSERT_EQ(aclrtMallocHost(&wanted_, sizeof(std::uint64_t)), ACL_SUCCESS);
    want(0);
  }
  void TearDown() override {
    EXPECT_EQ(aclrtFreeHost(wanted_), ACL_SUCCESS);
    acl_test::TearDown();
  }

  void want(std::uint64_t value) { *static_cast<std::uint64_t*>(wanted_) = value; }

  static void count_up(void* counter) { ++*static_cast<std::atomic<int>*>(counter); }

  // A condition of the graph that `stream` is captured into.
  static aclmdlRICondHandle condition_of(aclrtStream stream, unsigned at_start = 0,
                                         std::uint32_t flags = 0) {
    aclmdlRICaptureStatus seen = ACL_MODEL_RI_CAPTURE_STATUS_NONE;
    aclmdlRI model = nullptr;
    aclmdlRICondHandle made = nullptr;
    EXPECT_EQ(aclmdlRICaptureGetInfo(stream, &seen, &model), ACL_SUCCESS);
    EXPECT_EQ(aclmdlRICondHandleCreate(model, at_start, flags, &made), ACL_SUCCESS);
    return made;
  }

  // The condition gets what the test wants when the graph runs.
  void set_from_host(aclmdlRICondHandle condition, aclrtStream stream) const {
    std::uint64_t* value = nullptr;
    ASSERT_EQ(aclmdlRICondHandleGetCondPtr(condition, &value), ACL_SUCCESS);
    ASSERT_EQ(aclrtMemcpyAsync(value, 8, wanted_, 8, ACL_MEMCPY_HOST_TO_DEVICE, stream),
              ACL_SUCCESS);
  }

  // Work for a branch, captured on the side stream.
  template <class Work>
  void capture_branch(aclmdlRI branch, Work work) {
    aclmdlRI ended = nullptr;
    ASSERT_EQ(aclmdlRICaptureToModelRIBegin(side_, branch, ACL_MODEL_RI_CAPTURE_MODE_GLOBAL),
              ACL_SUCCESS);
    aclmdlRICaptureStatus seen = ACL_MODEL_RI_CAPTURE_STATUS_NONE;
    aclmdlRI model = nullptr;
    ASSERT_EQ(aclmdlRICaptureGetInfo(side_, &seen, &model), ACL_SUCCESS);
    EXPECT_EQ(model, branch);
    work();
    ASSERT_EQ(aclmdlRICaptureEnd(side_, &ended), ACL_SUCCESS);
    EXPECT_EQ(ended, branch);
  }
  void capture_count(aclmdlRI branch, std::atomic<int>& counter) {
    capture_branch(branch, [&] {
      ASSERT_EQ(aclrtLaunchHostFunc(side_, &count_up, &counter), ACL_SUCCESS);
    });
  }

  void begin() {
    ASSERT_EQ(aclmdlRICaptureBegin(stream_, ACL_MODEL_RI_CAPTURE_MODE_GLOBAL), ACL_SUCCESS);
  }
  aclmdlRI end() {
    aclmdlRI made = nullptr;
    EXPECT_EQ(aclmdlRICaptureEnd(stream_, &made), ACL_SUCCESS);
    return made;
  }
  void run(aclmdlRI model) {
    ASSERT_EQ(aclmdlRIExecuteAsync(model, stream_), ACL_SUCCESS);
    ASSERT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
  }

  aclrtStream stream_ = nullptr;
  aclrtStream side_ = nullptr;
  void* wanted_ = nullptr;
  std::atomic<int> first_ = 0;
  std::atomic<int> second_ = 0;
};

TEST_F(acl_branches, if_runs_one_of_two_as_the_value_says_when_it_is_reached) {
  begin();
  auto* const condition = condition_of(stream_);
  set_from_host(condition, stream_);
  aclmdlRI both[2] = {};
  ASSERT_EQ(aclmdlRIAddCondTask({condition, ACL_MODEL_RI_COND_TYPE_IF, 2, both}, stream_, 0),
            ACL_SUCCESS);
  capture_count(both[0], first_);
  capture_count(both[1], second_);
  auto* const model = end();
  want(std::uint64_t{1} << 40);
  run(model);
  EXPECT_EQ(first_, 1);
  EXPECT_EQ(second_, 0);
  want(0);
  run(model);
  EXPECT_EQ(first_, 1);
  EXPECT_EQ(second_, 1);
  EXPECT_EQ(aclmdlRIDestroy(model), ACL_SUCCESS);
}

TEST_F(acl_branches, switch_runs_the_one_of_that_number_or_none) {
  std::array<std::atomic<int>, 3> ran{};
  begin();
  auto* const condition = condition_of(stream_);
  set_from_host(condition, stream_);
  aclmdlRI all[3] = {};
  ASSERT_EQ(aclmdlRIAddCondTask({condition, ACL_MODEL_RI_COND_TYPE_SWITCH, 3, all}, stream_, 0),
            ACL_SUCCESS);
  for (std::size_t i = 0; i < ran.size(); ++i) capture_count(all[i], ran[i]);
  auto* const model = end();
  for (const auto value : {2, 0, 2, 3}) {
    want(static_cast<std::uint64_t>(value));
    run(model);
  }
  EXPECT_EQ(ran[0], 1);
  EXPECT_EQ(ran[1], 0);
  EXPECT_EQ(ran[2], 2);
  EXPECT_EQ(aclmdlRIDestroy(model), ACL_SUCCESS);
}

TEST_F(acl_branches, while_runs_again_as_long_as_its_body_leaves_a_value) {
  begin();
  auto* const condition =
      condition_of(stream_, 1, ACL_MODEL_RI_COND_HANDLE_ASSIGN_DEFAULT);
  aclmdlRI body = nullptr;
  ASSERT_EQ(aclmdlRIAddCondTask({condition, ACL_MODEL_RI_COND_TYPE_WHILE, 1, &body}, stream_, 0),
            ACL_SUCCESS);
  struct countdown {
    std::uint64_t* left;
    std::atomic<int>* rounds;
  } down{static_cast<std::uint64_t*>(wanted_), &first_};
  capture_branch(body, [&] {
    const auto step = [](void* raw) {
      const auto& [left, rounds] = *static_cast<countdown*>(raw);
      ++*rounds;
      --*left;
    };
    ASSERT_EQ(aclrtLaunchHostFunc(side_, step, &down), ACL_SUCCESS);
    set_from_host(condition, side_);
  });
  auto* const model = end();
  want(3);
  run(model);
  EXPECT_EQ(first_, 3);
  want(1);  // the default lets it begin again
  run(model);
  EXPECT_EQ(first_, 4);
  EXPECT_EQ(aclmdlRIDestroy(model), ACL_SUCCESS);
}

TEST_F(acl_branches, a_branch_may_have_branches) {
  begin();
  auto* const outer = condition_of(stream_);
  set_from_host(outer, stream_);
  aclmdlRI branch = nullptr;
  ASSERT_EQ(aclmdlRIAddCondTask({outer, ACL_MODEL_RI_COND_TYPE_IF, 1, &branch}, stream_, 0),
            ACL_SUCCESS);
  auto* const third = make_stream();
  aclmdlRI inner_branch = nullptr;
  capture_branch(branch, [&] {
    auto* const inner = condition_of(side_, 1, ACL_MODEL_RI_COND_HANDLE_ASSIGN_DEFAULT);
    ASSERT_EQ(aclmdlRIAddCondTask({inner, ACL_MODEL_RI_COND_TYPE_IF, 1, &inner_branch}, side_, 0),
              ACL_SUCCESS);
    aclmdlRI ended = nullptr;
    ASSERT_EQ(aclmdlRICaptureToModelRIBegin(third, inner_branch, ACL_MODEL_RI_CAPTURE_MODE_RELAXED),
              ACL_SUCCESS);
    ASSERT_EQ(aclrtLaunchHostFunc(third, &count_up, &first_), ACL_SUCCESS);
    ASSERT_EQ(aclmdlRICaptureEnd(third, &ended), ACL_SUCCESS);
    ASSERT_EQ(aclrtLaunchHostFunc(side_, &count_up, &second_), ACL_SUCCESS);
  });
  auto* const model = end();
  for (const auto value : {1, 0, 1}) {
    want(static_cast<std::uint64_t>(value));
    run(model);
  }
  EXPECT_EQ(first_, 2);
  EXPECT_EQ(second_, 2);
  EXPECT_EQ(aclmdlRIDestroy(model), ACL_SUCCESS);
  EXPECT_EQ(aclmdlRICaptureToModelRIBegin(side_, branch, ACL_MODEL_RI_CAPTURE_MODE_GLOBAL),
            ACL_ERROR_RT_INVALID_HANDLE);
}

TEST_F(acl_branches, what_cannot_be_is_refused_and_the_capture_goes_on) {
  begin();
  auto* const condition = condition_of(stream_);
  aclmdlRI all[3] = {};
  const auto add = [&](aclmdlRICondTaskType how, std::uint32_t size, aclrtStream stream) {
    return aclmdlRIAddCondTask({condition, how, size, all}, stream, 0);
  };
  EXPECT_EQ(add(ACL_MODEL_RI_COND_TYPE_IF, 3, stream_), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(add(ACL_MODEL_RI_COND_TYPE_IF, 0, stream_), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(add(ACL_MODEL_RI_COND_TYPE_WHILE, 2, stream_), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(add(enumerator<aclmdlRICondTaskType>(3), 1, stream_), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(add(ACL_MODEL_RI_COND_TYPE_IF, 1, side_), ACL_ERROR_RT_STREAM_NOT_CAPTURED);
  EXPECT_EQ(all[0], nullptr);
  ASSERT_EQ(add(ACL_MODEL_RI_COND_TYPE_IF, 1, stream_), ACL_SUCCESS);
  aclmdlRI made = nullptr;
  EXPECT_EQ(aclmdlRICaptureEnd(stream_, &made), ACL_ERROR_RT_MODEL_CAPTURED);
  EXPECT_EQ(made, nullptr);
  capture_count(all[0], first_);
  EXPECT_EQ(aclmdlRICaptureToModelRIBegin(side_, all[0], ACL_MODEL_RI_CAPTURE_MODE_GLOBAL),
            ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(aclmdlRIExecuteAsync(all[0], side_), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(aclmdlRIDestroy(all[0]), ACL_ERROR_RT_PARAM_INVALID);
  auto* const model = end();
  EXPECT_EQ(aclmdlRICondHandleCreate(model, 0, 0, &made), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(aclmdlRICondHandleCreate(model, 0, 2, &made), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(aclmdlRICaptureToModelRIBegin(side_, model, ACL_MODEL_RI_CAPTURE_MODE_GLOBAL),
            ACL_ERROR_RT_PARAM_INVALID);
  run(model);
  EXPECT_EQ(first_, 0);
  std::uint64_t* value = nullptr;
  ASSERT_EQ(aclmdlRICondHandleGetCondPtr(condition, &value), ACL_SUCCESS);
  EXPECT_EQ(aclmdlRIDestroy(model), ACL_SUCCESS);
  EXPECT_EQ(aclmdlRICondHandleGetCondPtr(condition, &value), ACL_ERROR_RT_INVALID_HANDLE);
}

TEST_F(acl_branches, a_branch_of_a_capture_that_failed_ends_without_harm) {
  begin();
  auto* const condition = condition_of(stream_);
  aclmdlRI branch = nullptr;
  ASSERT_EQ(aclmdlRIAddCondTask({condition, ACL_MODEL_RI_COND_TYPE_IF, 1, &branch}, stream_, 0),
            ACL_SUCCESS);
  ASSERT_EQ(aclmdlRICaptureToModelRIBegin(side_, branch, ACL_MODEL_RI_CAPTURE_MODE_GLOBAL),
            ACL_SUCCESS);
  ASSERT_EQ(aclrtDestroyStreamForce(stream_), ACL_ERROR_RT_STREAM_CAPTURED);
  ASSERT_EQ(aclrtLaunchHostFunc(side_, &count_up, &first_), ACL_SUCCESS);
  aclmdlRI made = nullptr;
  ASSERT_EQ(aclmdlRICaptureEnd(side_, &made), ACL_SUCCESS);
  auto* const unjoined = make_stream();
  auto* const fork = make_event();
  ASSERT_EQ(aclrtRecordEvent(fork, stream_), ACL_SUCCESS);
  ASSERT_EQ(aclrtStreamWaitEvent(unjoined, fork), ACL_SUCCESS);
  ASSERT_EQ(aclrtLaunchHostFunc(unjoined, &count_up, &second_), ACL_SUCCESS);
  EXPECT_EQ(aclmdlRICaptureEnd(stream_, &made), ACL_ERROR_RT_STREAM_UNJOINED);
  EXPECT_EQ(aclmdlRICaptureToModelRIBegin(side_, branch, ACL_MODEL_RI_CAPTURE_MODE_GLOBAL),
            ACL_ERROR_RT_INVALID_HANDLE);
  EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
}

}  // namespace
