// What bindings to other languages ask of a stream: kernels whose memory is known as they are
// launched, and copies of ordinary host memory that the caller keeps alive.

#include <algorithm>
#include <atomic>
#include <vector>

#include "tests/support/stage.hpp"
#include "troupe/capture.hpp"

namespace troupe {
namespace {

constexpr std::size_t count = 256;

class bindings : public stage_test {
protected:
  buffer<int> on_device() { return ctx.allocate<int>(count, initial::cleared).value(); }

  std::vector<int> read(const buffer<int>& from) {
    std::vector<int> seen(from.size());
    EXPECT_THAT(ctx.copy(seen, from), IsOk());
    return seen;
  }

  signal hold = rt.create_signal();
};

copy_request held_copy_of(const std::vector<int>& source, const buffer<int>& target) {
  copy_request made;
  made.target = target.data();
  made.source = source.data();
  made.target_bytes = made.bytes = source.size() * sizeof(int);
  made.target_context = target.context_id();
  made.held = true;
  return made;
}

TEST_F(bindings, a_kernel_launched_over_ranges_runs_each_of_its_blocks) {
  auto x = on_device();
  auto* values = x.data();
  const auto kernel = [values](const block& b) {
    for (auto i = std::size_t{b.index}; i < count; i += b.count) values[i] = 7;
    return status{};
  };
  ASSERT_THAT(s.launch_over({"sevens", 4}, kernel, {{values, count * sizeof(int)}}), IsOk());
  ASSERT_THAT(s.synchronize(), IsOk());
  EXPECT_EQ(read(x), std::vector<int>(count, 7));
}

TEST_F(bindings, a_kernel_launched_over_ranges_fails_its_task_with_its_own_code) {
  const auto kernel = [](const block&) { return make_status(code::memory_allocation, "no room"); };
  ASSERT_THAT(s.launch_over("greedy", kernel, {}), IsOk());
  EXPECT_THAT(s.synchronize(), HasCode(code::memory_allocation));
}

TEST_F(bindings, an_empty_kernel_and_no_blocks_are_refused) {
  EXPECT_THAT(s.launch_over("none", nullptr, {}), HasCode(code::invalid_parameter));
  const auto kernel = [](const block&) { return status{}; };
  EXPECT_THAT(s.launch_over({"none", 0}, kernel, {}), HasCode(code::invalid_parameter));
}

TEST_F(bindings, D1_copy_of_held_memory_returns_at_once_and_reads_when_it_runs) {
  std::vector<int> source(count, 1);
  auto target = on_device();
  ASSERT_THAT(s.wait(hold), IsOk());
  ASSERT_THAT(s.copy_raw(held_copy_of(source, target)), IsOk());
  EXPECT_FALSE(s.query().value());
  std::fill(source.begin(), source.end(), 2);
  hold.raise();
  ASSERT_THAT(s.synchronize(), IsOk());
  EXPECT_EQ(read(target), std::vector<int>(count, 2));
}

TEST_F(bindings, D1_batch_of_held_memory_returns_at_once_and_reads_when_it_runs) {
  std::vector<int> source(count, 1);
  auto target = on_device();
  const auto half = source.size() / 2;
  const std::vector<copy_entry> entries{
      {target.data(), source.data(), half * sizeof(int)},
      {target.data() + half, source.data() + half, half * sizeof(int)}};
  copy_batch_request request;
  request.entries = entries;
  request.held = true;
  ASSERT_THAT(s.wait(hold), IsOk());
  ASSERT_THAT(s.copy_batch(request), IsOk());
  EXPECT_FALSE(s.query().value());
  std::fill(source.begin(), source.end(), 2);
  hold.raise();
  ASSERT_THAT(s.synchronize(), IsOk());
  EXPECT_EQ(read(target), std::vector<int>(count, 2));
}

TEST_F(bindings, a_copy_of_held_memory_can_be_captured_and_is_read_by_each_replay) {
  std::vector<int> source(count, 1);
  auto target = on_device();
  ASSERT_THAT(capturing::begin(s), IsOk());
  ASSERT_THAT(s.copy_raw(held_copy_of(source, target)), IsOk());
  auto run = executable_graph::instantiate(ctx, capturing::end(s).value()).value();
  std::fill(source.begin(), source.end(), 3);
  ASSERT_THAT(run.launch(s), IsOk());
  ASSERT_THAT(s.synchronize(), IsOk());
  EXPECT_EQ(read(target), std::vector<int>(count, 3));
}

} // namespace
} // namespace troupe
