// The process's memory budget and the host's limits: what is charged, to whom, until when (E7, J8).

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include <sys/resource.h>

#include "actors/arena.hpp"
#include "tests/support/sanitizers.hpp"
#include "tests/behaviour/side_thread.hpp"

namespace troupe {
namespace {

constexpr std::uint64_t mib = std::uint64_t{1} << 20;

// What is charged already is not this test's.
runtime_options with_budget(std::uint64_t bytes) {
  auto made = test_options();
  made.memory_budget_bytes = memory_budget::charged() + bytes;
  return made;
}

// What the kernel counts against RLIMIT_DATA.
std::uint64_t data_bytes() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("VmData:")) return std::stoull(line.substr(7)) * 1024;
  }
  return 0;
}

class budget : public ::testing::Test {
protected:
  const std::uint64_t before = memory_budget::charged();
};

TEST_F(budget, E7_allocation_beyond_the_budget_is_refused_although_the_device_has_room) {
  auto rt = make_runtime(with_budget(16 * mib));
  const auto ctx = rt.device(0).value().create_context().value();
  const auto held = ctx.allocate<char>(10 * mib).value();
  EXPECT_EQ(memory_budget::charged(), before + 10 * mib);
  const auto refused = ctx.allocate<char>(10 * mib);
  EXPECT_THAT(refused, HasCode(code::device_out_of_memory));
  EXPECT_THAT(refused, SaysThat("memory budget"));
  EXPECT_THAT(rt.allocate_host<char>(10 * mib), HasCode(code::device_out_of_memory));
  EXPECT_EQ(memory_budget::charged(), before + 10 * mib) << "a refusal charges nothing";
  EXPECT_THAT(ctx.allocate<char>(6 * mib), IsOk());
}

TEST_F(budget, E7_memory_that_one_device_does_not_need_any_more_serves_the_others) {
  auto rt = make_runtime(with_budget(64 * mib));
  const auto first = rt.device(0).value().create_context().value();
  const auto second = rt.device(1).value().create_context().value();
  { const auto gone = first.allocate<char>(60 * mib).value(); }
  ASSERT_EQ(rt.device(0).value().memory().value().used, 0U);
  { EXPECT_THAT(second.allocate<char>(60 * mib), IsOk()); }
  ASSERT_EQ(rt.device(1).value().memory().value().used, 0U);
  { EXPECT_THAT(rt.allocate_host<char>(60 * mib), IsOk()); }
  ASSERT_EQ(rt.host_memory().value().used, 0U);
  EXPECT_THAT(first.allocate<char>(60 * mib), IsOk());
  EXPECT_LE(memory_budget::charged(), before + 64 * mib);
}

TEST_F(budget, E7_memory_that_another_runtime_does_not_need_any_more_serves_this_one) {
  const auto options = with_budget(64 * mib);
  auto one = make_runtime(options);
  auto two = make_runtime(options);
  const auto first = one.device(0).value().create_context().value();
  const auto second = two.device(0).value().create_context().value();
  { const auto gone = first.allocate<char>(60 * mib).value(); }
  ASSERT_EQ(one.device(0).value().memory().value().used, 0U);
  EXPECT_THAT(second.allocate<char>(60 * mib), IsOk());
}

TEST_F(budget, E7_only_what_is_missing_is_taken_from_others_and_nothing_that_is_in_use) {
  auto rt = make_runtime(with_budget(64 * mib));
  const auto first = rt.device(0).value().create_context().value();
  const auto second = rt.device(1).value().create_context().value();
  const auto kept = first.allocate<unsigned char>(20 * mib).value();
  auto s = first.create_stream().value();
  ASSERT_THAT(s.fill_bytes(kept, 7), IsOk());
  ASSERT_THAT(s.synchronize(), IsOk());
  { const auto gone = first.allocate<char>(40 * mib).value(); }
  ASSERT_EQ(rt.device(0).value().memory().value().used, 20 * mib);
  const auto more = second.allocate<char>(14 * mib).value();
  EXPECT_EQ(rt.device(0).value().memory().value().backed, 50 * mib);
  EXPECT_THAT(second.allocate<char>(31 * mib), HasCode(code::device_out_of_memory));
  std::vector<unsigned char> seen(20 * mib);
  ASSERT_THAT(first.copy(seen, kept), IsOk());
  EXPECT_TRUE(std::all_of(seen.begin(), seen.end(), [](auto each) { return each == 7; }));
}

TEST_F(budget, E7_devices_that_trim_each_other_at_the_same_time_all_get_an_answer) {
  auto rt = make_runtime(with_budget(24 * mib));
  const auto worker = [&rt](std::int64_t device) {
    const auto ctx = rt.device(device).value().create_context().value();
    for (int round = 0; round < (sanitized ? 50 : 500); ++round) {
      auto got = ctx.allocate<char>(10 * mib);
      if (got) got.value().data()[round] = 1;
      EXPECT_TRUE(got || got.code() == code::device_out_of_memory) << got.error().describe();
    }
    return status{};
  };
  side_thread other([&] { return worker(1); });
  side_thread third([&] { return worker(0); });
  (void)worker(0);
}

// -- after the end ------------------------------------------------------------

TEST_F(budget, J8_ended_runtime_holds_no_memory_whoever_keeps_its_handles) {
  context kept;
  buffer<char> memory;
  {
    auto rt = make_runtime(with_budget(64 * mib));
    kept = rt.device(0).value().create_context().value();
    memory = kept.allocate<char>(60 * mib, initial::cleared).value();
    ASSERT_THAT(kept.bind(), IsOk());
    EXPECT_GE(memory_budget::charged(), before + 60 * mib);
  }
  EXPECT_EQ(memory_budget::charged(), before);
  auto next = make_runtime(with_budget(64 * mib));
  const auto ctx = next.device(0).value().create_context().value();
  EXPECT_THAT(ctx.allocate<char>(60 * mib), IsOk());
  EXPECT_THAT(memory.free(), HasCode(code::uninitialized));
  current::unbind();
}

TEST_F(budget, J8_pinned_memory_of_an_ended_runtime_is_readable_until_its_handle_goes) {
  host_buffer<int> kept;
  context handle; // keeps the ended runtime
  {
    auto rt = make_runtime(with_budget(64 * mib));
    handle = rt.device(0).value().create_context().value();
    kept = rt.allocate_host<int>(1000).value();
    { const auto gone = rt.allocate_host<char>(20 * mib).value(); }
    std::fill(kept.begin(), kept.end(), 5);
  }
  EXPECT_EQ(memory_budget::charged(), before + 2 * mib) << "one granule";
  EXPECT_TRUE(std::all_of(kept.begin(), kept.end(), [](int each) { return each == 5; }));
  kept = host_buffer<int>();
  EXPECT_EQ(memory_budget::charged(), before);
}

TEST_F(budget, J8_memory_of_a_kernel_that_outlives_its_runtime_stays_as_it_is) {
  LIVE_ONLY("its kernels wait for the test");
  struct shared {
    gate door;
    std::atomic<int> seen = -1;
  };
  const auto state = std::make_shared<shared>();
  {
    auto options = with_budget(64 * mib);
    options.stop_bound_ms = 20;
    auto rt = make_runtime(options);
    const auto ctx = rt.device(0).value().create_context().value();
    auto s = ctx.create_stream().value();
    const auto memory = ctx.allocate<unsigned char>(4 * mib).value();
    { const auto gone = ctx.allocate<char>(20 * mib).value(); }
    ASSERT_THAT(s.fill_bytes(memory, 9), IsOk());
    const auto stay = [state](gsl::span<unsigned char> all) {
      state->door.pass();
      state->seen = *std::min_element(all.begin(), all.end());
    };
    ASSERT_THAT(s.launch("stays", stay, memory), IsOk());
    state->door.await_arrivals();
    EXPECT_FALSE(rt.shutdown().ok());
  }
  EXPECT_LE(memory_budget::charged(), before + 4 * mib) << "the rest is given back";
  state->door.open();
  await([&] { return state->seen != -1; });
  EXPECT_EQ(state->seen, 9);
}

// -- the host's limits --------------------------------------------------------

TEST_F(budget, E7_refusal_by_the_host_is_not_blamed_on_the_budget) {
  LIVE_ONLY("limits of the process");
  if (sanitized) GTEST_SKIP() << "the sanitizer needs the memory itself";
  auto rt = make_runtime(test_options());
  const auto ctx = rt.device(0).value().create_context().value();
  { const auto warm = ctx.allocate<char>(1).value(); }
  rlimit old{};
  ASSERT_EQ(getrlimit(RLIMIT_DATA, &old), 0);
  // Room for small things, however much the process has by now.
  const rlimit tight{data_bytes() + 16 * mib, old.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_DATA, &tight), 0);
  const auto refused = ctx.allocate<char>(128 * mib);
  ASSERT_EQ(setrlimit(RLIMIT_DATA, &old), 0);
  EXPECT_THAT(refused, HasCode(code::memory_allocation));
  EXPECT_THAT(refused, SaysThat("the host refuses to back 134217728 bytes of the memory of device 0"));
  EXPECT_EQ(rt.device(0).value().memory().value().used, 0U);
  EXPECT_LE(memory_budget::charged(), before + 2 * mib) << "a refusal charges nothing";
  EXPECT_THAT(ctx.allocate<char>(128 * mib, initial::cleared), IsOk());
}

} // namespace
} // namespace troupe
