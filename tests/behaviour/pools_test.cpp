// Pools: sizes and growth (E6), blocks used on other streams than their own, and blocks of kernels
// that were aborted (E2).

#include <atomic>
#include <cstdint>
#include <vector>

#include "tests/behaviour/side_thread.hpp"

namespace troupe {
namespace {

constexpr std::size_t bytes = 1000;

class pools : public stage_test {
protected:
  pools() : stage_test(patient_options()) {}

  pool_buffer<char> take(const stream& user) { return p.allocate<char>(user, bytes).value(); }

  // Whether a block that `use` has used on `other`, behind `hold`, is kept from its own stream until
  // that has ended, and named.
  void expect_kept(const std::function<status(pool_buffer<char>&)>& use, bool named) {
    ASSERT_THAT(other.wait(hold), IsOk());
    const char* address = nullptr;
    {
      auto block = take(s);
      address = block.data();
      ASSERT_THAT(use(block), IsOk());
    }
    EXPECT_NE(take(s).data(), address);
    const auto notes = rt.diagnostics();
    ASSERT_EQ(notes.size(), named ? 1U : 0U);
    if (named) {
      EXPECT_EQ(notes[0].what, diagnostic::kind::freed_in_use);
      EXPECT_EQ(notes[0].stream, other.id());
      EXPECT_NE(notes[0].message.find("pool of context"), std::string::npos) << notes[0].message;
    }
    hold.raise();
    ASSERT_THAT(other.synchronize(), IsOk());
    const auto one = take(s);
    const auto two = take(s);
    EXPECT_TRUE(one.data() == address || two.data() == address) << "it is lost";
  }

  pool p = ctx.create_pool().value();
  stream other = ctx.create_stream().value();
  signal hold = rt.create_signal();
};

TEST_F(pools, E6_size_that_rounding_would_wrap_is_refused_with_size_and_limit) {
  const auto first = take(s);
  const auto used = p.counters().used;
  for (const auto size : {SIZE_MAX, SIZE_MAX - 100, SIZE_MAX / 2, SIZE_MAX / 8 * 7 + 1}) {
    const auto refused = p.allocate<char>(s, size);
    ASSERT_THAT(refused, HasCode(code::memory_allocation)) << size;
    EXPECT_THAT(refused, SaysThat(std::to_string(size) + " bytes"));
    EXPECT_THAT(refused, SaysThat(std::to_string(std::uint64_t{256} << 20)));
    EXPECT_EQ(refused.error().record()->lacking->asked, size);
  }
  EXPECT_EQ(p.counters().used, used);
  const auto second = take(s);
  EXPECT_NE(first.data(), second.data());
  for (const auto size : {SIZE_MAX, SIZE_MAX - 100}) {
    EXPECT_THAT(ctx.allocate<char>(size), HasCode(code::memory_allocation));
    EXPECT_THAT(rt.allocate_host<char>(size), HasCode(code::memory_allocation));
  }
}

TEST_F(pools, E2_block_filled_on_another_stream_is_kept_until_that_has_run) {
  expect_kept([&](auto& block) { return other.fill_bytes(block, 3); }, true);
}

TEST_F(pools, E2_block_copied_on_another_stream_is_kept_until_that_has_run) {
  const auto pinned = rt.allocate_host<char>(bytes).value();
  expect_kept([&](auto& block) { return other.copy(block, pinned); }, true);
}

TEST_F(pools, E2_block_given_to_a_kernel_of_another_stream_is_kept_until_that_has_run) {
  expect_kept([&](auto& block) { return other.launch("k", [](gsl::span<char>) {}, block); }, true);
}

TEST_F(pools, E2_block_given_to_a_named_kernel_of_another_stream_is_kept_until_that_has_run) {
  ASSERT_THAT(rt.register_kernel("named", [](gsl::span<char>) {}), IsOk());
  expect_kept([&](auto& block) { return other.launch_by_name("named", block); }, true);
}

TEST_F(pools, E2_block_of_which_a_view_was_taken_is_kept_from_work_of_any_stream) {
  const auto use = [&](auto& block) {
    return other.launch("k", [](gsl::span<char>) {}, block.span());
  };
  expect_kept(use, false);
}

TEST_F(pools, E2_block_used_by_another_context_is_kept_until_that_has_run) {
  const auto stranger = dev.create_context().value();
  auto far = stranger.create_stream().value();
  const auto pinned = rt.allocate_host<char>(bytes).value();
  ASSERT_THAT(far.wait(hold), IsOk());
  const char* address = nullptr;
  {
    auto block = take(s);
    address = block.data();
    ASSERT_THAT(far.copy(block, pinned), IsOk());
  }
  EXPECT_NE(take(s).data(), address);
  hold.raise();
  ASSERT_THAT(far.synchronize(), IsOk());
}

TEST_F(pools, E2_block_of_its_own_stream_is_reused_at_once_with_others_at_work) {
  ASSERT_THAT(other.wait(hold), IsOk());
  ASSERT_THAT(s.wait(hold), IsOk());
  const char* address = nullptr;
  {
    auto block = take(s);
    address = block.data();
    ASSERT_THAT(s.fill_bytes(block, 1), IsOk());
    ASSERT_THAT(s.launch("k", [](gsl::span<char>) {}, block), IsOk());
  }
  EXPECT_EQ(take(s).data(), address);
  EXPECT_TRUE(rt.diagnostics().empty());
  hold.raise();
}

TEST_F(pools, E2_destroyed_stream_gets_no_memory) {
  ASSERT_THAT(other.destroy(), IsOk());
  EXPECT_THAT(p.allocate<char>(other, bytes), HasCode(code::invalid_handle));
  EXPECT_EQ(p.counters().allocations, 0U);
}

// -- growth --------------------------------------------------------------------

TEST_F(pools, E6_what_is_free_serves_other_sizes_and_goes_back_when_the_device_is_full) {
  constexpr std::size_t most = std::size_t{200} << 20;
  for (const std::size_t size : {200'000U, 300'000U, 400'000U}) {
    std::vector<pool_buffer<char>> all;
    for (std::size_t sum = 0; sum < most / 4 * 3; sum += size) {
      auto got = p.allocate<char>(s, size);
      ASSERT_THAT(got, IsOk()) << size << " after " << sum;
      all.push_back(std::move(got).value());
    }
  }
  EXPECT_EQ(p.counters().used, 0U);
  EXPECT_THAT(p.allocate<char>(s, most), IsOk()) << "larger than any slab it has";
}

TEST_F(pools, E6_streams_in_turn_need_no_more_than_what_is_in_flight) {
  std::vector<stream> all;
  for (int i = 0; i < 16; ++i) all.push_back(ctx.create_stream().value());
  const auto keeping = ctx.create_pool({.release_threshold_bytes = UINT64_MAX}).value();
  for (int i = 0; i < 1600; ++i) {
    auto& each = all[static_cast<std::size_t>(i % 16)];
    const auto block = keeping.allocate<char>(each, 16'000).value();
    ASSERT_THAT(each.launch("k", [](gsl::span<char>) {}, block), IsOk());
    if (i % 160 == 159) { ASSERT_THAT(ctx.synchronize(), IsOk()); }
  }
  EXPECT_LE(keeping.counters().grown, 2U) << "at most 160 blocks of 16 KiB were in flight";
}

TEST_F(pools, E6_the_memory_of_a_pool_is_the_devices_when_its_last_handle_has_gone) {
  constexpr std::size_t most = std::size_t{200} << 20;
  for (int i = 0; i < 20; ++i) {
    {
      const auto own = ctx.create_pool().value();
      const auto block = own.allocate<char>(s, most);
      ASSERT_THAT(block, IsOk()) << i;
    }
    ASSERT_THAT(ctx.allocate<char>(most), IsOk()) << i;
  }
}

// -- aborted kernels -----------------------------------------------------------

TEST_F(pools, E2_block_of_a_kernel_that_an_abort_waits_for_is_kept_until_that_returns) {
  LIVE_ONLY("its kernels wait for the test");
  gate door;
  auto block = take(s);
  const auto* address = block.data();
  ASSERT_THAT(s.launch("stuck", [&](gsl::span<char>) { door.pass(); }, block), IsOk());
  door.await_arrivals();
  ASSERT_THAT(s.abort(), IsOk());
  block = {};
  const auto* later = [&] {
    auto other_block = take(s);
    EXPECT_NE(other_block.data(), address);
    return other_block.data();
  }();
  EXPECT_EQ(take(s).data(), later) << "what was handed out after the abort is not concerned";
  door.open();
  const auto& line = *s.state()->record->line();
  await([&] { return line.idle(); });
  const auto one = take(s);
  const auto two = take(s);
  EXPECT_TRUE(one.data() == address || two.data() == address) << "it is lost";
}

class pools_given_up : public stage_test {
protected:
  static runtime_options impatient() {
    auto made = test_options(1);
    made.stop_bound_ms = 20;
    return made;
  }
  pools_given_up() : stage_test(impatient()) {}

  pool p = ctx.create_pool().value();
  std::atomic<int> runs = 0;
};

TEST_F(pools_given_up, E2_block_reused_before_its_kernel_was_given_up_on_is_refused_until_then) {
  LIVE_ONLY("its kernels wait for the test");
  gate door;
  auto before = p.allocate<char>(s, bytes).value();
  const auto* address = before.data();
  ASSERT_THAT(s.launch("stuck", [&](gsl::span<char>) { door.pass(); }, before), IsOk());
  door.await_arrivals();
  before = {};
  const auto block = p.allocate<char>(s, bytes).value();
  ASSERT_EQ(block.data(), address) << "in stream order";
  ASSERT_THAT(s.abort(), IsOk());
  const auto count = [this](gsl::span<char>) { ++runs; };
  ASSERT_THAT(s.launch("next", count, block), IsOk()) << "the abort may still end in time";
  const auto refused = s.synchronize();
  EXPECT_THAT(refused, HasCode(code::device_task_abort));
  EXPECT_THAT(refused, SaysThat("given up on"));
  EXPECT_EQ(runs, 0);
  std::vector<char> host(bytes);
  EXPECT_THAT(ctx.copy(host, block), HasCode(code::device_task_abort));
  EXPECT_THAT(s.fill_bytes(block, 1), HasCode(code::device_task_abort));

  const auto fresh = p.allocate<char>(s, bytes).value();
  EXPECT_NE(fresh.data(), address);
  ASSERT_THAT(s.launch("fresh", count, fresh), IsOk());
  EXPECT_THAT(s.synchronize(), IsOk());
  EXPECT_EQ(runs, 1) << "another block is not concerned";
  door.open();
  await([&] { return ctx.copy(host, block).ok(); });
  ASSERT_THAT(s.launch("late", count, block), IsOk());
  EXPECT_THAT(s.synchronize(), IsOk());
  EXPECT_EQ(runs, 2);
}

TEST_F(pools, E3_range_that_leaves_its_block_or_is_free_in_its_pool_is_refused) {
  device_span<char> view;
  {
    const auto block = take(s);
    const auto next = take(s);
    view = {block.data(), bytes, ctx.id()};
    const device_span<char> over(block.data(), bytes + 1, ctx.id());
    EXPECT_THAT(s.fill_bytes(over, 1), HasCode(code::invalid_parameter));
    EXPECT_THAT(s.fill_bytes(over, 1), SaysThat("leaves the pool's block of 1000 bytes"));
    EXPECT_THAT(s.fill_bytes(view, 1), IsOk());
    EXPECT_THAT(s.synchronize(), IsOk());
  }
  EXPECT_THAT(s.fill_bytes(view, 1), SaysThat("freed"));
  std::vector<char> host(bytes);
  EXPECT_THAT(s.copy(host, view), HasCode(code::invalid_parameter));
}

} // namespace
} // namespace troupe
