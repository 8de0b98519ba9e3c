// Which memory a command may touch: ranges in one allocation in use, whose owner is found by
// address; what copies and fills that break this are told (D5, E3, F5), what quarantine they cause
// (E2), and what client threads touch themselves while the context ends (A5).

#include <algorithm>
#include <atomic>
#include <functional>
#include <numeric>
#include <utility>
#include <vector>

#include "tests/behaviour/side_thread.hpp"

namespace troupe {
namespace {

constexpr std::size_t count = 1024;

class memory_ranges : public stage_test {
protected:
  memory_ranges() : stage_test(patient_options()) {}

  buffer<int> cleared(const context& of) {
    return of.allocate<int>(count, initial::cleared).value();
  }
  buffer<int> cleared() { return cleared(ctx); }
  std::vector<int> read(const buffer<int>& from) {
    std::vector<int> seen(from.size());
    EXPECT_THAT(ctx.copy(seen, from), IsOk());
    return seen;
  }
  // A view of `from` with its first `offset` elements left out and `length` ones claimed.
  static device_span<int> claim(const buffer<int>& from, std::size_t offset, std::size_t length) {
    return {from.data() + offset, length, from.context_id()};
  }

  signal hold = rt.create_signal();
};

TEST_F(memory_ranges, E3_fill_past_the_end_of_its_allocation_is_refused_and_writes_nothing) {
  const auto mine = cleared();
  const auto next = cleared();
  const auto far = claim(mine, 0, std::size_t{1} << 24);
  const auto outcome = s.fill_bytes(far, 7);
  EXPECT_THAT(outcome, HasCode(code::invalid_parameter));
  EXPECT_THAT(outcome, SaysThat("range of 67108864 bytes at offset"));
  EXPECT_THAT(outcome, SaysThat("leaves the allocation of 4096 bytes"));
  EXPECT_THAT(s.fill_bytes(claim(mine, 1, count), 7), HasCode(code::invalid_parameter));
  EXPECT_THAT(s.fill_bytes(claim(mine, count - 1, 1), 7), IsOk());
  ASSERT_THAT(s.synchronize(), IsOk());
  EXPECT_EQ(read(next), std::vector<int>(count, 0));
}

TEST_F(memory_ranges, E3_view_of_more_bytes_than_there_are_numbers_is_refused) {
  const auto mine = cleared();
  std::vector<int> host(count, 5);
  for (const auto length : {SIZE_MAX, SIZE_MAX / 4 + 2}) {
    EXPECT_THAT(s.fill_bytes(claim(mine, 0, length), 1), HasCode(code::invalid_parameter));
    EXPECT_THAT(s.copy(host, claim(mine, 0, length)), HasCode(code::invalid_parameter));
  }
  EXPECT_EQ(s.counters().submitted, 0U);
}

TEST_F(memory_ranges, E3_slack_behind_an_allocation_belongs_to_nobody) {
  const auto odd = ctx.allocate<char>(100).value();
  const device_span<char> over(odd.data(), 101, odd.context_id());
  EXPECT_THAT(s.fill_bytes(over, 1), SaysThat("leaves the allocation of 100 bytes"));
  const device_span<char> behind(odd.data() + 100, 1, odd.context_id());
  EXPECT_THAT(s.fill_bytes(behind, 1), HasCode(code::invalid_parameter));
}

TEST_F(memory_ranges, E3_copies_past_the_end_of_an_allocation_are_refused_on_either_side) {
  const auto mine = cleared();
  const auto other = cleared();
  std::vector<int> host(count + 1, 5);
  const auto over = claim(mine, 0, count + 1);
  const auto says = SaysThat("leaves the allocation of 4096 bytes");
  EXPECT_THAT(s.copy(over, host), says);
  EXPECT_THAT(s.copy(host, over), says);
  EXPECT_THAT(ctx.copy(over, host), says);
  EXPECT_THAT(ctx.copy(host, over), says);
  EXPECT_THAT(s.copy(claim(other, 0, count), claim(mine, 1, count)), says);
  EXPECT_EQ(s.counters().submitted, 0U);
  EXPECT_EQ(read(other), std::vector<int>(count, 0));
}

TEST_F(memory_ranges, E3_pinned_memory_is_checked_as_well) {
  const auto mine = cleared();
  copy_request r;
  {
    const auto pinned = rt.allocate_host<int>(count).value();
    r.target = mine.data();
    r.source = pinned.data() + 1;
    r.bytes = r.target_bytes = count * sizeof(int);
    EXPECT_THAT(s.copy_raw(r), SaysThat("leaves the allocation of 4096 bytes"));
    r.source = pinned.data();
    EXPECT_THAT(s.copy_raw(r), IsOk());
    ASSERT_THAT(s.synchronize(), IsOk());
  }
  EXPECT_THAT(s.copy_raw(r), SaysThat("freed"));
}

TEST_F(memory_ranges, E3_memory_never_allocated_is_refused) {
  const auto mine = cleared();
  std::vector<int> host(count);
  const auto nowhere = claim(mine, std::size_t{16} << 20, count);
  EXPECT_THAT(s.copy(host, nowhere), HasCode(code::invalid_parameter));
  EXPECT_THAT(s.copy(host, nowhere), SaysThat("never allocated"));
  EXPECT_THAT(s.copy(nowhere, host), SaysThat("never allocated"));
  EXPECT_THAT(s.fill_bytes(nowhere, 1), SaysThat("never allocated"));
}

TEST_F(memory_ranges, E3_fill_of_memory_that_is_no_devices_is_refused) {
  std::vector<int> host(count);
  const device_span<int> mistaken(host.data(), count, ctx.id());
  EXPECT_THAT(s.fill_bytes(mistaken, 1), SaysThat("lies in no device of this runtime"));
  const device_span<int> of_nobody(host.data(), count, 0);
  EXPECT_THAT(s.fill_bytes(of_nobody, 1), HasCode(code::invalid_parameter));
  EXPECT_EQ(host, std::vector<int>(count));
}

TEST_F(memory_ranges, E3_freed_memory_is_refused_at_once_however_it_was_freed) {
  std::vector<int> host(count);
  auto freed = cleared();
  const auto by_call = freed.span();
  ASSERT_THAT(freed.free(), IsOk());
  for (int round = 0; round < 100; ++round) {
    device_span<int> by_destructor;
    {
      const auto brief = cleared();
      by_destructor = brief.span();
    }
    EXPECT_THAT(s.fill_bytes(by_destructor, 1), SaysThat("freed"));
    EXPECT_THAT(s.copy(host, by_destructor), SaysThat("freed"));
  }
  EXPECT_THAT(s.copy(by_call, host), HasCode(code::invalid_parameter));
  EXPECT_THAT(ctx.copy(by_call, host), SaysThat("freed"));
}

TEST_F(memory_ranges, E3_memory_in_quarantine_counts_as_freed) {
  auto freed = cleared();
  const auto view = freed.span();
  ASSERT_THAT(s.wait(hold), IsOk());
  ASSERT_THAT(s.fill_bytes(freed, 1), IsOk());
  ASSERT_THAT(freed.free(), IsOk());
  EXPECT_THAT(s.fill_bytes(view, 2), SaysThat("freed"));
  hold.raise();
  EXPECT_THAT(s.synchronize(), IsOk());
}

TEST_F(memory_ranges, E3_view_of_memory_that_has_another_owner_by_now_is_refused) {
  auto other = dev.create_context().value();
  auto mine = cleared();
  const auto stale = mine.span();
  ASSERT_THAT(mine.free(), IsOk());
  const auto theirs = cleared(other);
  ASSERT_EQ(theirs.data(), stale.data());
  std::vector<int> host(count, 3);
  const auto outcome = s.copy(stale, host);
  EXPECT_THAT(outcome, HasCode(code::invalid_parameter));
  EXPECT_THAT(outcome, SaysThat("context " + std::to_string(ctx.id())));
  EXPECT_THAT(outcome, SaysThat("is of context " + std::to_string(other.id())));
  EXPECT_THAT(s.fill_bytes(stale, 1), HasCode(code::invalid_parameter));
  EXPECT_EQ(read(theirs), std::vector<int>(count, 0));
}

TEST_F(memory_ranges, F2_destroyed_context_is_named_and_not_its_memory) {
  const auto mine = cleared();
  std::vector<int> host(count);
  ASSERT_THAT(ctx.destroy(), IsOk());
  const auto ended =
      ::testing::AnyOf(HasCode(code::context_released), HasCode(code::invalid_handle));
  EXPECT_THAT(s.fill_bytes(mine, 1), ended);
  EXPECT_THAT(s.copy(mine, host), ended);
  EXPECT_THAT(s.copy(host, mine), ended);
  EXPECT_THAT(ctx.copy(host, mine), HasCode(code::context_released));
}

// -- another runtime ----------------------------------------------------------

TEST_F(memory_ranges, F5_memory_of_another_runtime_is_refused_and_both_are_named) {
  auto elsewhere = make_runtime(test_options(1));
  const auto foreign_ctx = elsewhere.device(0).value().create_context().value();
  const auto foreign = cleared(foreign_ctx);
  const auto mine = cleared();
  EXPECT_NE(foreign_ctx.id(), ctx.id());
  const auto both = [&](const status& outcome) {
    EXPECT_THAT(outcome, HasCode(code::invalid_parameter));
    EXPECT_THAT(outcome, SaysThat("context " + std::to_string(foreign_ctx.id())));
    EXPECT_THAT(outcome, SaysThat("runtime"));
  };
  const auto launched = s.launch("k", [](gsl::span<int>) {}, foreign);
  both(launched);
  EXPECT_THAT(launched, SaysThat("context " + std::to_string(ctx.id())));
  both(s.fill_bytes(foreign, 0));
  both(s.copy(mine, foreign));
  both(s.copy(foreign, mine));
  both(ctx.copy(mine, foreign));
}

// -- quarantine by address ----------------------------------------------------

TEST_F(memory_ranges, E2_block_of_another_context_in_a_queued_copy_is_not_reused) {
  auto other = dev.create_context().value();
  auto theirs = cleared(other);
  const auto* address = theirs.data();
  auto pinned = rt.allocate_host<int>(count).value();
  std::fill(pinned.begin(), pinned.end(), 77);
  ASSERT_THAT(s.wait(hold), IsOk());
  ASSERT_THAT(s.copy(theirs, pinned), IsOk());
  ASSERT_THAT(theirs.free(), IsOk());
  EXPECT_GE(dev.memory().value().quarantined, count * sizeof(int));
  const auto next = cleared(other);
  EXPECT_NE(next.data(), address);
  hold.raise();
  ASSERT_THAT(s.synchronize(), IsOk());
  EXPECT_EQ(read(next), std::vector<int>(count, 0));
  EXPECT_EQ(dev.memory().value().quarantined, 0U);
}

TEST_F(memory_ranges, E2_owner_of_a_block_is_found_by_address_when_the_caller_does_not_say) {
  auto other = dev.create_context().value();
  auto pinned = rt.allocate_host<int>(count).value();
  const auto mine = cleared();
  for (const bool as_target : {true, false}) {
    auto theirs = cleared(other);
    auto door = rt.create_signal();
    copy_request r;
    r.target = as_target ? theirs.data() : mine.data();
    r.source = as_target ? static_cast<const int*>(pinned.data()) : theirs.data();
    r.bytes = r.target_bytes = count * sizeof(int);
    ASSERT_THAT(s.wait(door), IsOk());
    ASSERT_THAT(s.copy_raw(r), IsOk());
    const auto* address = theirs.data();
    ASSERT_THAT(theirs.free(), IsOk());
    EXPECT_GE(dev.memory().value().quarantined, count * sizeof(int));
    EXPECT_NE(cleared(other).data(), address);
    door.raise();
    ASSERT_THAT(s.synchronize(), IsOk());
  }
}

TEST_F(memory_ranges, E2_pinned_block_in_a_queued_copy_is_not_reused) {
  const auto target = cleared();
  const int* address = nullptr;
  ASSERT_THAT(s.wait(hold), IsOk());
  {
    auto pinned = rt.allocate_host<int>(count).value();
    std::fill(pinned.begin(), pinned.end(), 5);
    address = pinned.data();
    ASSERT_THAT(s.copy(target, pinned), IsOk());
  }
  EXPECT_GE(rt.host_memory().value().quarantined, count * sizeof(int));
  auto next = rt.allocate_host<int>(count).value();
  EXPECT_NE(next.data(), address);
  std::fill(next.begin(), next.end(), 9);
  EXPECT_FALSE(rt.diagnostics().empty());
  hold.raise();
  ASSERT_THAT(s.synchronize(), IsOk());
  EXPECT_EQ(read(target), std::vector<int>(count, 5));
  EXPECT_EQ(rt.host_memory().value().quarantined, 0U);
}

// -- overlap ------------------------------------------------------------------

runtime_options in_small_chunks() {
  auto made = patient_options();
  made.copy_chunk_kib = 4;
  return made;
}

class overlaps : public stage_test {
protected:
  overlaps() : stage_test(in_small_chunks()) {}
};

TEST_F(overlaps, D5_copy_within_one_buffer_moves_as_memmove_does_in_both_directions) {
  constexpr std::size_t all = 64 * count;
  constexpr std::size_t part = 48 * count;
  std::vector<int> numbers(all);
  std::iota(numbers.begin(), numbers.end(), 0);
  const auto memory = ctx.allocate<int>(all).value();
  const auto view = memory.span();
  for (const std::size_t shift : {1U, 1000U, 1024U, 5000U}) {
    for (const bool up : {true, false}) {
      for (const bool blocking : {true, false}) {
        ASSERT_THAT(ctx.copy(memory, numbers), IsOk());
        const auto low = view.subspan(0, part);
        const auto high = view.subspan(shift, part);
        const auto target = up ? high : low;
        const auto source = up ? low : high;
        ASSERT_THAT(blocking ? ctx.copy(target, source) : s.copy(target, source), IsOk());
        ASSERT_THAT(s.synchronize(), IsOk());
        auto expected = numbers;
        const auto from = numbers.begin() + (up ? 0 : static_cast<std::ptrdiff_t>(shift));
        std::copy(from, from + part,
                  expected.begin() + (up ? static_cast<std::ptrdiff_t>(shift) : 0));
        std::vector<int> seen(all);
        ASSERT_THAT(ctx.copy(seen, memory), IsOk());
        EXPECT_EQ(seen, expected) << "shift " << shift << (up ? " up" : " down");
      }
    }
  }
}

// -- the end of the context ----------------------------------------------------

class two_tenants : public stage_test {
protected:
  static constexpr std::size_t bytes = std::size_t{64} << 20; // one block of them fits

  static runtime_options narrow() {
    auto made = test_options(1);
    made.devices[0].memory_bytes = bytes + bytes / 2;
    return made;
  }
  two_tenants() : stage_test(narrow()) {}

  // A tenant ends while a thread is in `touch`, and the next one gets its memory, again and again.
  void expect_kept_apart(const std::function<void(const context&, std::atomic<bool>&)>& touch) {
    for (int round = 0; round < 3; ++round) {
      auto first = dev.create_context().value();
      std::atomic<bool> begun = false;
      test_thread thread([&] { touch(first, begun); });
      await([&] { return begun.load(); });
      for (int i = 0; i < 10 * round; ++i) (void)dev.memory(); // further and further into it
      EXPECT_THAT(first.destroy(), IsOk());
      const auto mine = own_block();
      EXPECT_THAT(ctx.copy(mine, ones), IsOk());
      thread.join();
      std::vector<char> seen(bytes);
      EXPECT_THAT(ctx.copy(seen, mine), IsOk());
      ASSERT_TRUE(seen == ones) << "round " << round;
    }
  }

  // Once the other tenant's memory has come back.
  buffer<char> own_block() {
    buffer<char> mine;
    await([&] {
      auto got = ctx.allocate<char>(bytes);
      if (got.ok()) mine = std::move(got).value();
      return got.ok();
    });
    return mine;
  }

  const std::vector<char> ones = std::vector<char>(bytes, 1);
};

TEST_F(two_tenants, A5_a_copy_under_way_keeps_its_memory_from_the_next_tenant) {
  LIVE_ONLY("what real threads do at the same time");
  const std::vector<char> twos(bytes, 2);
  expect_kept_apart([&](const context& from, std::atomic<bool>& begun) {
    const auto block = from.allocate<char>(bytes).value();
    begun = true;
    const auto copied = from.copy(block, twos);
    if (!copied.ok()) { EXPECT_THAT(copied, HasCode(code::context_released)); }
  });
}

TEST_F(two_tenants, A5_memory_that_is_being_cleared_is_kept_from_the_next_tenant) {
  LIVE_ONLY("what real threads do at the same time");
  expect_kept_apart([&](const context& from, std::atomic<bool>& begun) {
    begun = true;
    const auto block = from.allocate<char>(bytes, initial::cleared);
    if (!block.ok()) { EXPECT_THAT(block, HasCode(code::context_released)); }
  });
}

} // namespace
} // namespace troupe
