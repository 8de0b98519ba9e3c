// Memory that the program maps itself: reserved addresses, physical memory, rights of contexts, and
// what a command meets that touches what is not mapped or not for it (E3, A5, D2).

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <utility>
#include <vector>

#include "tests/behaviour/side_thread.hpp"

namespace troupe {
namespace {

constexpr std::size_t unit = device::mapping_granularity;
constexpr std::size_t count = unit / sizeof(int);

class mapped_memory : public stage_test {
protected:
  mapped_memory() : stage_test(patient_options()) {}

  address_range open_range(std::size_t bytes) {
    const auto made = dev.reserve(bytes).value();
    EXPECT_THAT(made.set_access(mapped_access::read_write, ctx), IsOk());
    return made;
  }
  std::vector<int> read(const device_span<int>& from) {
    std::vector<int> seen(from.size());
    EXPECT_THAT(ctx.copy(seen, from), IsOk());
    return seen;
  }

  const std::vector<int> ones = std::vector<int>(count, 1);
  signal hold = rt.create_signal();
};

TEST_F(mapped_memory, copies_fills_and_kernels_use_what_is_mapped) {
  const auto range = open_range(2 * unit);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(range.address()) % unit, 0U);
  const auto low = dev.create_physical(unit).value();
  const auto high = dev.create_physical(1).value();
  EXPECT_EQ(high.bytes(), unit);
  ASSERT_THAT(range.map(0, low), IsOk());
  ASSERT_THAT(range.map(unit, high), IsOk());
  const auto all = range.view<int>(ctx, 0, 2 * count).value(); // across both
  EXPECT_EQ(read(all), std::vector<int>(2 * count, 0));
  ASSERT_THAT(s.fill_bytes(all, 1), IsOk());
  ASSERT_THAT(s.launch("add", [](gsl::span<int> a) {
    for (auto& each : a) ++each;
  }, all), IsOk());
  ASSERT_THAT(s.synchronize(), IsOk());
  EXPECT_EQ(read(all), std::vector<int>(2 * count, 0x01010102));
}

TEST_F(mapped_memory, one_memory_at_two_places_is_the_same_memory) {
  const auto range = open_range(2 * unit);
  const auto memory = dev.create_physical(unit).value();
  ASSERT_THAT(range.map(0, memory), IsOk());
  ASSERT_THAT(range.map(unit, memory), IsOk());
  ASSERT_THAT(ctx.copy(range.view<int>(ctx, 0, count).value(), ones), IsOk());
  EXPECT_EQ(read(range.view<int>(ctx, unit, count).value()), ones);
}

TEST_F(mapped_memory, it_lives_until_the_last_mapping_and_handle_are_gone) {
  const auto range = open_range(unit);
  auto memory = dev.create_physical(unit).value();
  ASSERT_THAT(range.map(0, memory), IsOk());
  const auto view = range.view<int>(ctx, 0, count).value();
  ASSERT_THAT(ctx.copy(view, ones), IsOk());
  memory = {};
  EXPECT_EQ(dev.memory().value().used, unit);
  EXPECT_EQ(read(view), ones);
  ASSERT_THAT(range.unmap(0), IsOk());
  await([&] { return dev.memory().value().used == 0; });
}

TEST_F(mapped_memory, E3_wrong_uses_are_refused_each_time_and_change_nothing) {
  const auto range = open_range(4 * unit);
  const auto memory = dev.create_physical(2 * unit).value();
  const auto far = rt.device(1).value().create_physical(unit).value();
  ASSERT_THAT(range.map(unit, memory), IsOk());
  const auto bad = HasCode(code::invalid_parameter);
  for (int round = 0; round < 2; ++round) {
    EXPECT_THAT(range.map(1, memory), bad) << "crooked";
    EXPECT_THAT(range.map(0, memory), SaysThat("meets one of")) << "overlap from below";
    EXPECT_THAT(range.map(2 * unit, memory), bad) << "overlap from above";
    EXPECT_THAT(range.map(3 * unit, memory), SaysThat("leaves the range"));
    EXPECT_THAT(range.map(UINT64_MAX - unit + 1, memory), bad);
    EXPECT_THAT(range.map(0, physical_memory()), SaysThat("empty"));
    EXPECT_THAT(range.map(0, far), SaysThat("memory of device 1"));
    EXPECT_THAT(range.unmap(0), SaysThat("no mapping begins"));
    EXPECT_THAT(range.unmap(2 * unit), bad) << "interior";
    EXPECT_THAT(range.unmap(4 * unit), bad) << "outside";
    EXPECT_THAT(range.release(), SaysThat("still has memory mapped"));
    EXPECT_THAT(ctx.free_raw(range.address()), bad);
    EXPECT_THAT(range.view<int>(ctx, 0, 4 * count + 1), bad);
    EXPECT_THAT(range.view<int>(ctx, 2, 1), bad);
    EXPECT_THAT(dev.reserve(unit, 3 * unit), bad);
    EXPECT_THAT(dev.reserve(unit, std::size_t{1} << 31), bad);
    EXPECT_THAT(dev.reserve(0), HasCode(code::bad_argument));
    EXPECT_THAT(dev.create_physical(0), HasCode(code::bad_argument));
    EXPECT_THAT(dev.reserve(SIZE_MAX), HasCode(code::memory_allocation));
    EXPECT_THAT(dev.create_physical(SIZE_MAX), HasCode(code::memory_allocation));
    EXPECT_THAT(address_range().map(0, memory), HasCode(code::invalid_handle));
  }
  EXPECT_EQ(dev.memory().value().used, 2 * unit);
  ASSERT_THAT(range.unmap(unit), IsOk());
  ASSERT_THAT(range.release(), IsOk());
  for (int round = 0; round < 2; ++round) {
    EXPECT_THAT(range.release(), SaysThat("has been released"));
    EXPECT_THAT(range.map(0, memory), SaysThat("has been released"));
    EXPECT_THAT(range.set_access(mapped_access::read, ctx), SaysThat("has been released"));
  }
}

TEST_F(mapped_memory, E3_what_is_not_mapped_is_refused_by_every_command) {
  const auto range = open_range(3 * unit);
  const auto memory = dev.create_physical(unit).value();
  ASSERT_THAT(range.map(0, memory), IsOk());
  ASSERT_THAT(range.map(2 * unit, memory), IsOk());
  std::vector<int> host(3 * count);
  const auto none = SaysThat("have nothing mapped at offset 2097152");
  const auto all = range.view<int>(ctx, 0, 3 * count).value(); // with a hole within
  EXPECT_THAT(s.copy(all, host), none);
  EXPECT_THAT(s.copy(host, all), none);
  EXPECT_THAT(ctx.copy(host, all), none);
  EXPECT_THAT(s.fill_bytes(all, 1), none);
  EXPECT_THAT(s.launch("k", [](gsl::span<int>) {}, all), none);
  EXPECT_THAT(s.launch("k", [](gsl::span<const int>) {}, all), none);
  EXPECT_EQ(s.counters().submitted, 0U);
  const device_span<int> nowhere(all.data() + 8 * count, 1, ctx.id());
  EXPECT_THAT(s.fill_bytes(nowhere, 1), SaysThat("not reserved"));
}

TEST_F(mapped_memory, A5_a_context_touches_it_only_by_a_right_given_on_purpose) {
  const auto range = open_range(unit);
  ASSERT_THAT(range.map(0, dev.create_physical(unit).value()), IsOk());
  const auto other = dev.create_context().value();
  auto beside = other.create_stream().value();
  const auto mine = range.view<int>(ctx, 0, count).value();
  const auto theirs = range.view<int>(other, 0, count).value();
  ASSERT_THAT(ctx.copy(mine, ones), IsOk());
  std::vector<int> host(count);
  const auto write = [](gsl::span<int> a) { a[0] = 7; };
  const auto look = [](gsl::span<const int>) {};
  EXPECT_THAT(beside.launch("look", look, theirs), SaysThat("to read"));
  EXPECT_THAT(beside.copy(host, mine), SaysThat("to read")) << "by another's view";
  EXPECT_THAT(other.copy(host, theirs), SaysThat("to read"));
  ASSERT_THAT(range.set_access(mapped_access::read, other), IsOk());
  EXPECT_THAT(other.copy(host, theirs), IsOk());
  EXPECT_EQ(host, ones);
  EXPECT_THAT(beside.launch("look", look, theirs), IsOk());
  EXPECT_THAT(beside.launch("write", write, theirs), SaysThat("to write"));
  EXPECT_THAT(beside.fill_bytes(theirs, 1), SaysThat("to write"));
  ASSERT_THAT(range.set_access(mapped_access::read_write, other), IsOk());
  EXPECT_THAT(beside.launch("write", write, theirs), IsOk());
  ASSERT_THAT(beside.synchronize(), IsOk());
  EXPECT_EQ(read(mine)[0], 7);
  ASSERT_THAT(range.set_access(mapped_access::none, other), IsOk());
  EXPECT_THAT(beside.launch("look", look, theirs), SaysThat("to read"));
  const auto far = rt.device(1).value().create_context().value();
  EXPECT_THAT(range.set_access(mapped_access::read, far), HasCode(code::invalid_parameter));
  ASSERT_THAT(other.destroy(), IsOk());
  EXPECT_THAT(range.set_access(mapped_access::read, other), HasCode(code::context_released));
}

TEST_F(mapped_memory, D2_work_that_waits_fails_with_a_code_when_its_memory_is_unmapped) {
  const auto range = open_range(unit);
  ASSERT_THAT(range.map(0, dev.create_physical(unit).value()), IsOk());
  const auto view = range.view<int>(ctx, 0, count).value();
  const auto beside = ctx.allocate<int>(count, initial::cleared).value();
  ASSERT_THAT(s.wait(hold), IsOk());
  ASSERT_THAT(s.launch("late", [](gsl::span<int> a) { a[0] = 1; }, view), IsOk());
  ASSERT_THAT(s.copy(beside, view), IsOk());
  ASSERT_THAT(s.fill_bytes(view, 3), IsOk());
  ASSERT_THAT(s.fill_bytes(beside, 2), IsOk());
  ASSERT_THAT(range.unmap(0), IsOk());
  hold.raise();
  const auto failed = s.synchronize();
  EXPECT_THAT(failed, HasCode(code::invalid_parameter));
  EXPECT_THAT(failed, SaysThat("'late' cannot run"));
  EXPECT_EQ(s.counters().failed, 3U);
  EXPECT_EQ(read(beside.span()), std::vector<int>(count, 0x02020202));
}

TEST_F(mapped_memory, D2_what_a_kernel_has_begun_to_use_stays_mapped_until_it_ends) {
  LIVE_ONLY("its kernel waits for the test");
  const auto range = open_range(unit);
  auto memory = dev.create_physical(unit).value();
  ASSERT_THAT(range.map(0, memory), IsOk());
  const auto view = range.view<int>(ctx, 0, count).value();
  std::atomic<bool> inside = false;
  std::atomic<bool> leave = false;
  ASSERT_THAT(s.launch("stay", [&](gsl::span<int> a) {
    inside = true;
    while (!leave) std::this_thread::yield();
    std::fill(a.begin(), a.end(), 5);
  }, view), IsOk());
  await([&] { return inside.load(); });
  EXPECT_THAT(range.unmap(0), IsOk());
  EXPECT_THAT(range.map(0, memory), SaysThat("that a task still uses"));
  EXPECT_THAT(s.fill_bytes(view, 1), SaysThat("have nothing mapped"));
  memory = {};
  EXPECT_EQ(dev.memory().value().used, unit);
  leave = true;
  EXPECT_THAT(s.synchronize(), IsOk());
  await([&] { return dev.memory().value().used == 0; });
}

TEST_F(mapped_memory, physical_memory_counts_and_is_limited_as_all_memory_of_the_device) {
  const auto total = dev.memory().value().total;
  EXPECT_THAT(dev.create_physical(total + unit), HasCode(code::memory_allocation));
  const auto memory = dev.create_physical(unit).value();
  EXPECT_EQ(dev.memory().value().used, unit);
  EXPECT_THAT(ctx.allocate<char>(total), HasCode(code::memory_allocation));
  ASSERT_THAT(dev.reset(), IsOk());
  EXPECT_EQ(dev.memory().value().used, unit);
}

TEST_F(mapped_memory, handles_may_outlive_the_runtime) {
  const auto range = open_range(unit);
  const auto memory = dev.create_physical(unit).value();
  ASSERT_THAT(range.map(0, memory), IsOk());
  ASSERT_THAT(rt.shutdown(), IsOk());
  EXPECT_THAT(range.unmap(0), HasCode(code::uninitialized));
  EXPECT_THAT(dev.create_physical(unit), HasCode(code::uninitialized));
}

} // namespace
} // namespace troupe
