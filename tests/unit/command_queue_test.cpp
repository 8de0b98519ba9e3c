#include "actors/command_queue.hpp"

#include <optional>
#include <utility>

#include <gtest/gtest.h>

namespace troupe {
namespace {

struct counted {
  explicit counted(int& alive_count) : alive(&alive_count) { ++*alive; }
  counted(counted&& other) noexcept : alive(other.alive) { ++*alive; }
  counted(const counted&) = delete;
  counted& operator=(const counted&) = delete;
  counted& operator=(counted&&) = delete;
  ~counted() { --*alive; }
  int* alive;
};

class command_queue_test : public ::testing::Test {
protected:
  void SetUp() override { queue.emplace(1); }

  std::uint64_t push() {
    command c(command_kind::kernel, "counted", {});
    c.emplace<counted>(carried<counted>::ops, alive);
    return queue->push(std::move(c), completed);
  }
  void pop(std::uint64_t number) {
    EXPECT_EQ(queue->at(number).number, number);
    queue->pop(number);
    completed = number;
  }

  int alive = 0;
  std::uint64_t completed = 0;
  std::optional<command_queue> queue;
};

TEST_F(command_queue_test, takes_the_first_commands_without_more_storage) {
  for (std::uint64_t n = 1; n <= 4; ++n) {
    EXPECT_FALSE(queue->full(0));
    EXPECT_EQ(push(), n);
    EXPECT_EQ(queue->storage_bytes(), command_queue::storage_kept_bytes);
  }
  EXPECT_TRUE(queue->full(0));
  EXPECT_FALSE(queue->full(1));
}

TEST_F(command_queue_test, numbers_commands_and_ends_each_once) {
  for (std::uint64_t n = 1; n <= 100; ++n) EXPECT_EQ(push(), n);
  EXPECT_EQ(alive, 100);
  for (std::uint64_t n = 1; n <= 100; ++n) {
    pop(n);
    EXPECT_EQ(alive, static_cast<int>(100 - n));
  }
}

TEST_F(command_queue_test, a_look_at_a_later_command_leaves_the_earlier_ones) {
  for (std::uint64_t n = 1; n <= 20; ++n) push();
  EXPECT_EQ(queue->look_at(20).number, 20U);
  EXPECT_EQ(queue->look_at(1).number, 1U);
  for (std::uint64_t n = 1; n <= 20; ++n) pop(n);
  EXPECT_EQ(alive, 0);
}

TEST_F(command_queue_test, keeps_its_size_while_a_few_commands_pass_through) {
  for (std::uint64_t n = 1; n <= 1000; ++n) {
    push();
    pop(n);
  }
  EXPECT_EQ(queue->storage_bytes(), command_queue::storage_kept_bytes);
}

TEST_F(command_queue_test, grows_by_doubling_and_gives_back_the_small_rings) {
  for (std::uint64_t n = 1; n <= 60; ++n) push(); // rings of 4, 8, 16, 32
  EXPECT_EQ(queue->storage_bytes(), (4 + 8 + 16 + 32) * sizeof(command));
  for (std::uint64_t n = 1; n <= 29; ++n) pop(n);
  EXPECT_EQ(queue->storage_bytes(), (4 + 32) * sizeof(command));
  for (std::uint64_t n = 30; n <= 60; ++n) pop(n);
  EXPECT_EQ(alive, 0);
}

TEST_F(command_queue_test, gives_storage_back_only_when_it_is_empty) {
  for (std::uint64_t n = 1; n <= 10; ++n) push();
  for (std::uint64_t n = 1; n <= 9; ++n) pop(n);
  queue->clear_storage();
  EXPECT_GT(queue->storage_bytes(), command_queue::storage_kept_bytes);
  EXPECT_EQ(queue->at(10).number, 10U);
  pop(10);
  queue->clear_storage();
  EXPECT_EQ(queue->storage_bytes(), command_queue::storage_kept_bytes);
}

TEST_F(command_queue_test, fills_the_small_ring_again_after_it_gave_storage_back) {
  for (int round = 0; round < 3; ++round) {
    std::uint64_t last = 0;
    for (int i = 0; i < 7; ++i) last = push();
    for (auto n = last - 6; n <= last; ++n) pop(n);
    queue->clear_storage();
  }
  for (std::uint64_t n = 22; n <= 25; ++n) EXPECT_EQ(push(), n);
  EXPECT_EQ(queue->storage_bytes(), command_queue::storage_kept_bytes);
  EXPECT_EQ(push(), 26U);
  for (std::uint64_t n = 22; n <= 26; ++n) pop(n);
  EXPECT_EQ(alive, 0);
}

TEST_F(command_queue_test, ends_what_was_never_popped) {
  for (int i = 0; i < 30; ++i) push();
  pop(1);
  EXPECT_EQ(alive, 29);
  queue.reset();
  EXPECT_EQ(alive, 0);
}

TEST_F(command_queue_test, is_sealed_once_and_not_before_its_first_command) {
  EXPECT_FALSE(queue->seal(0));
  push();
  push();
  EXPECT_EQ(queue->last_number(), UINT64_MAX);
  EXPECT_TRUE(queue->seal(2));
  EXPECT_EQ(queue->last_number(), 2U);
  EXPECT_FALSE(queue->seal(2));
}

TEST_F(command_queue_test, may_begin_at_any_number) {
  queue.emplace(42);
  completed = 41;
  EXPECT_FALSE(queue->seal(41));
  for (std::uint64_t n = 42; n < 60; ++n) EXPECT_EQ(push(), n);
  for (std::uint64_t n = 42; n < 60; ++n) pop(n);
  EXPECT_EQ(queue->first_number(), 42U);
  EXPECT_EQ(queue->next_number(), 60U);
  EXPECT_EQ(alive, 0);
}

} // namespace
} // namespace troupe
