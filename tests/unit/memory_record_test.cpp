#include "actors/memory_record.hpp"

#include <memory>
#include <thread>

#include "tests/support/status_matchers.hpp"

namespace troupe {
namespace {

constexpr std::uint64_t mib = std::uint64_t{1} << 20;
constexpr std::uint64_t granule = backing::default_granule_bytes;
constexpr std::uint64_t owner = 7;

class memory_record_test : public ::testing::Test {
protected:
  std::byte* take(std::uint64_t bytes) {
    return memory->allocate(bytes, owner, UINT64_MAX).value().data;
  }
  status give(const std::byte* data, const frontier& in_use = {}) {
    std::uint64_t quarantined = 0;
    return memory->free(data, owner, in_use, quarantined);
  }
  status look(const std::byte* at, std::uint64_t bytes) {
    return memory->owner_of(at, bytes, nullptr, memory_record::side::target).error();
  }

  const std::uint64_t before = memory_budget::charged();
  std::shared_ptr<memory_record> memory = memory_record::create("test memory", 64 * mib);
};

TEST_F(memory_record_test, two_blocks_in_one_granule_are_charged_once_and_freed_in_either_order) {
  for (const bool first_goes_first : {true, false}) {
    auto* first = take(4096);
    auto* second = take(4096);
    ASSERT_LT(second - first, static_cast<std::ptrdiff_t>(granule));
    EXPECT_EQ(memory_budget::charged(), before + granule);
    first[0] = second[0] = std::byte{1};
    auto* stays = first_goes_first ? second : first;
    ASSERT_THAT(give(first_goes_first ? first : second), IsOk());
    memory->trim(UINT64_MAX);
    EXPECT_EQ(memory_budget::charged(), before + granule) << "the other one needs it";
    EXPECT_EQ(stays[0], std::byte{1});
    auto* third = take(4096);
    third[4095] = std::byte{2};
    EXPECT_EQ(memory_budget::charged(), before + granule) << "it is backed already";
    ASSERT_THAT(give(stays), IsOk());
    ASSERT_THAT(give(third), IsOk());
    memory->trim(UINT64_MAX);
    EXPECT_EQ(memory_budget::charged(), before);
    EXPECT_EQ(memory->info().backed, 0U);
  }
}

TEST_F(memory_record_test, leased_block_is_not_reused_however_it_is_freed) {
  for (const bool one_by_one : {true, false}) {
    auto* block = take(40 * mib);
    EXPECT_FALSE(memory->lease_of(block, 40 * mib + 1, owner).has_value());
    EXPECT_FALSE(memory->lease_of(block, 1, owner + 1).has_value());
    auto held = memory->lease_of(block + 5, mib, owner);
    auto twice = memory->lease_of(block, 40 * mib, owner);
    ASSERT_TRUE(held && twice);
    if (one_by_one) {
      ASSERT_THAT(give(block), IsOk());
    } else {
      memory->free_all(owner, {});
    }
    EXPECT_FALSE(memory->lease_of(block, 1, owner).has_value()) << "it has been freed";
    EXPECT_FALSE(memory->allocate(40 * mib, owner + 1, UINT64_MAX).ok());
    held.reset();
    EXPECT_FALSE(memory->allocate(40 * mib, owner + 1, UINT64_MAX).ok());
    twice.reset();
    EXPECT_EQ(memory->info().quarantined, 0U);
    EXPECT_EQ(memory->info().used, 0U);
  }
}

TEST_F(memory_record_test, trimmed_memory_is_backed_and_charged_again_when_it_is_handed_out) {
  auto* first = take(3 * mib);
  first[3 * mib - 1] = std::byte{5};
  ASSERT_THAT(give(first), IsOk());
  memory->trim(UINT64_MAX);
  auto* again = take(3 * mib);
  EXPECT_EQ(again, first);
  EXPECT_EQ(memory_budget::charged(), before + 2 * granule);
  EXPECT_EQ(again[3 * mib - 1], std::byte{0});
  again[0] = std::byte{1};
}

TEST_F(memory_record_test, tells_whose_a_range_is_and_refuses_one_that_leaves_its_block) {
  auto* mine = take(1000);
  EXPECT_EQ(memory->owner_of(mine, 1000, nullptr, memory_record::side::target).value(), owner);
  EXPECT_EQ(memory->owner_of(mine + 999, 1, nullptr, memory_record::side::target).value(), owner);
  EXPECT_THAT(look(mine, 1001), SaysThat("leaves the allocation of 1000 bytes at offset 0"));
  EXPECT_THAT(look(mine + 1, UINT64_MAX), HasCode(code::invalid_parameter));
  EXPECT_THAT(look(mine + 1000, 1), HasCode(code::invalid_parameter));
  EXPECT_THAT(look(mine + 4096, 1), SaysThat("never allocated"));
  ASSERT_THAT(give(mine), IsOk());
  EXPECT_THAT(look(mine, 1), SaysThat("freed"));
}

TEST_F(memory_record_test, what_a_thread_has_looked_up_is_forgotten_when_the_block_goes) {
  auto* mine = take(1000);
  const auto other = memory_record::create("other memory", 64 * mib);
  for (int i = 0; i < 2; ++i) EXPECT_THAT(look(mine, 1000), IsOk());
  std::thread([&] { ASSERT_THAT(give(mine), IsOk()); }).join();
  EXPECT_THAT(look(mine, 1000), SaysThat("freed"));
  mine = take(500);
  for (int i = 0; i < 2; ++i) EXPECT_THAT(look(mine, 501), SaysThat("leaves"));
  EXPECT_THAT(look(mine, 500), IsOk());
  const auto theirs = other->allocate(2000, owner + 1, UINT64_MAX).value();
  using side = memory_record::side;
  EXPECT_EQ(other->owner_of(theirs.data, 2000, nullptr, side::target).value(), owner + 1);
  EXPECT_THAT(look(mine, 2000), SaysThat("leaves")) << "each memory has eras of its own";
  EXPECT_THAT(look(mine, 500), IsOk());
}

TEST_F(memory_record_test, only_its_owner_retires_a_block) {
  auto* mine = take(1000);
  memory->retire(mine, owner + 1);
  EXPECT_THAT(look(mine, 1), IsOk());
  memory->retire(mine, owner);
  EXPECT_THAT(look(mine, 1), SaysThat("freed"));
  EXPECT_THAT(give(mine), IsOk());
}

TEST_F(memory_record_test, looks_at_every_quarantined_block_in_turn) {
  const auto busy = std::make_shared<timeline>(1);
  const auto done = std::make_shared<timeline>(2);
  busy->accept(1);
  done->accept(1);
  for (int i = 0; i < 3; ++i) ASSERT_THAT(give(take(512), {{busy, 1}}), IsOk());
  auto* last = take(512);
  ASSERT_THAT(give(last, {{done, 1}}), IsOk());
  EXPECT_EQ(memory->info().quarantined, 4 * 512U);
  EXPECT_THAT(give(last), SaysThat("freed already"));
  ASSERT_TRUE(done->complete(1));
  for (int looks = 0; looks < 4; ++looks) memory->sweep(1);
  EXPECT_EQ(memory->info().quarantined, 3 * 512U);
  ASSERT_TRUE(busy->complete(1));
  memory->sweep(SIZE_MAX);
  EXPECT_EQ(memory->info().used, 0U);
}

TEST_F(memory_record_test, budget_is_asked_of_all_memories_before_an_allocation_is_refused) {
  const auto other = memory_record::create("other memory", 64 * mib);
  const auto limit = before + 40 * mib;
  ASSERT_THAT(give(memory->allocate(30 * mib, owner, limit).value().data), IsOk());
  EXPECT_THAT(other->allocate(41 * mib, owner, limit), HasCode(code::device_out_of_memory));
  EXPECT_EQ(memory->info().backed, 30 * mib) << "what can never fit takes nothing from others";
  const auto held = other->allocate(20 * mib, owner, limit);
  EXPECT_THAT(held, IsOk());
  EXPECT_EQ(memory->info().backed, 20 * mib) << "no more than was missing";
  EXPECT_THAT(other->allocate(21 * mib, owner, limit), HasCode(code::device_out_of_memory));
  EXPECT_EQ(other->info().used, 20 * mib);
}

TEST_F(memory_record_test, J8_after_the_end_blocks_go_when_their_owner_is_done_with_them) {
  using rest = memory_record::still_used;
  auto* kept = memory->allocate(4096, 0, UINT64_MAX).value().data;
  auto* done = memory->allocate(8 * mib, 0, UINT64_MAX).value().data;
  kept[0] = std::byte{3};
  memory->retire(done, 0); // its free has not been served when the actor ends
  memory->end(rest::blocks);
  EXPECT_EQ(memory_budget::charged(), before + granule);
  EXPECT_EQ(kept[0], std::byte{3});
  memory->free_after_end(kept);
  EXPECT_EQ(memory_budget::charged(), before);
}

TEST_F(memory_record_test, J8_with_a_thread_in_user_code_no_block_goes_before_the_memory_itself) {
  using rest = memory_record::still_used;
  auto* kept = memory->allocate(4096, 0, UINT64_MAX).value().data;
  ASSERT_THAT(give(take(8 * mib)), IsOk());
  kept[0] = std::byte{3};
  memory->end(rest::retired);
  EXPECT_EQ(memory_budget::charged(), before + granule) << "what was free is given back";
  memory->free_after_end(kept);
  EXPECT_EQ(memory_budget::charged(), before + granule);
  EXPECT_EQ(kept[0], std::byte{3});
  memory.reset();
  EXPECT_EQ(memory_budget::charged(), before);
}

TEST_F(memory_record_test, lookups_and_allocations_may_come_from_several_threads) {
  auto* steady = take(4096);
  std::thread reader([&] {
    for (int i = 0; i < 20'000; ++i) ASSERT_THAT(look(steady + 1, 4095), IsOk());
  });
  for (int i = 0; i < 2'000; ++i) {
    auto* brief = take(8192);
    ASSERT_THAT(give(brief), IsOk());
    memory->trim(UINT64_MAX);
  }
  reader.join();
}

} // namespace
} // namespace troupe
