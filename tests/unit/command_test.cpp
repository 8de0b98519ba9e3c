#include "core/command.hpp"

#include <array>
#include <cstddef>
#include <memory>
#include <utility>

#include <gtest/gtest.h>

#include "core/kernel_closure.hpp"
#include "core/task.hpp"

namespace troupe {
namespace {

static_assert(sizeof(command) == 128, "two cache lines");
static_assert(alignof(command) == 64);
static_assert(!std::is_copy_constructible_v<command>);

// Counts its lives; not trivially copyable, so that it is relocated.
struct counted {
  explicit counted(int& alive_count) : alive(&alive_count) { ++*alive; }
  counted(const counted& other) : alive(other.alive) { ++*alive; }
  counted(counted&& other) noexcept : alive(other.alive) { ++*alive; }
  counted& operator=(const counted&) = delete;
  counted& operator=(counted&&) = delete;
  ~counted() { --*alive; }
  int* alive;
};

struct plain {
  int numbers[20];
};
static_assert(sizeof(plain) == command::payload_bytes_max);

command make(command_kind kind = command_kind::kernel) {
  return command(kind, "name", {"file.cpp", 12});
}

TEST(command, a_move_keeps_header_and_plain_payload) {
  auto first = make(command_kind::callback);
  plain content{};
  content.numbers[19] = 77;
  first.emplace<plain>(carried<plain>::ops, content);
  first.number = 5;
  first.thread = 6;
  first.blocks = 7;
  command second(std::move(first));
  EXPECT_EQ(second.number, 5U);
  EXPECT_EQ(second.thread, 6U);
  EXPECT_EQ(second.blocks, 7U);
  EXPECT_EQ(second.kind, command_kind::callback);
  EXPECT_STREQ(second.name, "name");
  EXPECT_EQ(second.site().line, 12U);
  EXPECT_EQ(second.as<plain>().numbers[19], 77);
}

TEST(command, relocates_a_payload_and_ends_it_once) {
  int alive = 0;
  {
    auto first = make();
    first.emplace<counted>(carried<counted>::ops, alive);
    EXPECT_EQ(alive, 1);
    {
      const command second(std::move(first));
      EXPECT_EQ(alive, 1);
    }
    EXPECT_EQ(alive, 0);
  }
  EXPECT_EQ(alive, 0);
}

TEST(command, reset_ends_the_payload_early_and_keeps_the_header) {
  int alive = 0;
  auto c = make();
  c.emplace<counted>(carried<counted>::ops, alive);
  c.number = 9;
  c.reset();
  EXPECT_EQ(alive, 0);
  EXPECT_EQ(c.number, 9U);
  c.reset();
  EXPECT_EQ(alive, 0);
}

TEST(command, plain_payloads_are_moved_by_their_bytes_and_need_no_end) {
  EXPECT_EQ(carried<plain>::ops.relocate, nullptr);
  EXPECT_EQ(carried<plain>::ops.destroy, nullptr);
  EXPECT_EQ(carried<plain>::ops.bytes, sizeof(plain));
  EXPECT_NE(carried<counted>::ops.relocate, nullptr);
  EXPECT_NE(carried<counted>::ops.destroy, nullptr);
}

// Whether the payload of `c` lies inside the command is told by its size.
TEST(command, a_closure_that_does_not_fit_is_boxed_and_still_runs) {
  int alive = 0;
  int sum = 0;
  {
    const std::array<std::size_t, 40> wide{1, 2, 3};
    auto big = make_kernel_command(task("big"), [&sum, wide, c = counted(alive)] {
      sum += static_cast<int>(wide[0] + wide[1] + wide[2]);
    });
    auto small = make_kernel_command(task("small"), [&sum] { sum += 100; });
    EXPECT_EQ(alive, 1);
    EXPECT_LE(big.op->bytes, sizeof(void*));
    command moved(std::move(big));
    EXPECT_EQ(alive, 1);
    EXPECT_TRUE(moved.op->invoke(moved.payload(), block{}).ok());
    EXPECT_TRUE(small.op->invoke(small.payload(), block{}).ok());
  }
  EXPECT_EQ(sum, 106);
  EXPECT_EQ(alive, 0);
}

} // namespace
} // namespace troupe
