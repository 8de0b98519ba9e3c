#include "core/kernel_closure.hpp"

#include <span>
#include <stdexcept>
#include <string>
#include <tuple>
#include <vector>

#include <gmock/gmock.h>

#include "core/device_span.hpp"
#include "tests/support/status_matchers.hpp"

namespace troupe {
namespace {

int free_kernel_sum = 0;
void free_kernel(std::span<const int> in, int more) {
  for (const auto each : in) free_kernel_sum += each + more;
}
[[maybe_unused]] void no_arguments() {}
[[maybe_unused]] void safe(int) noexcept {}

struct functor {
  void operator()(const block&, std::span<int>) {}
};

static_assert(kernel_traits<decltype(&free_kernel)>::arity == 2);
static_assert(kernel_traits<decltype(&no_arguments)>::arity == 0);
static_assert(!kernel_traits<decltype(&no_arguments)>::takes_block);
static_assert(kernel_traits<decltype(&safe)>::arity == 1);
static_assert(kernel_traits<functor>::takes_block && kernel_traits<functor>::arity == 1);
static_assert(kernel_traits<std::reference_wrapper<functor>>::takes_block);
static_assert(std::is_same_v<kernel_traits<void (*)(const std::string&, double)>::parameters,
                             std::tuple<std::string, double>>,
              "values are kept as copies");

std::vector<access_range> ranges_of(const command& c) {
  std::vector<access_range> seen;
  c.op->ranges(c.payload(), {[](void* self, const access_range& range) {
                               static_cast<std::vector<access_range>*>(self)->push_back(range);
                             },
                             &seen});
  return seen;
}

status run(command& c, const block& b = {}) { return c.op->invoke(c.payload(), b); }

TEST(kernel_closure, parameters_declare_reading_and_writing) {
  std::vector<int> in(4);
  std::vector<double> out(2);
  const device_span<int> source(in.data(), in.size(), 1);
  const device_span<double> target(out.data(), out.size(), 1);
  const auto c = make_kernel_command(
      task("k"), [](std::span<const int>, int, gsl::span<double>) {}, source, 7, target);
  const auto seen = ranges_of(c);
  ASSERT_EQ(seen.size(), 2U);
  EXPECT_EQ(seen[0].base, in.data());
  EXPECT_EQ(seen[0].bytes, 4 * sizeof(int));
  EXPECT_EQ(seen[0].mode, access_mode::read);
  EXPECT_EQ(seen[1].base, out.data());
  EXPECT_EQ(seen[1].bytes, 2 * sizeof(double));
  EXPECT_EQ(seen[1].mode, access_mode::write);
}

TEST(kernel_closure, a_boxed_closure_declares_the_same) {
  std::vector<int> data(4);
  const device_span<int> span(data.data(), data.size(), 1);
  const std::array<char, 200> wide{};
  const auto c = make_kernel_command(task("k"), [wide](std::span<int>) { (void)wide; }, span);
  const auto seen = ranges_of(c);
  ASSERT_EQ(seen.size(), 1U);
  EXPECT_EQ(seen[0].base, data.data());
  EXPECT_EQ(seen[0].bytes, 4 * sizeof(int));
  EXPECT_EQ(seen[0].mode, access_mode::write);
}

TEST(kernel_closure, calls_plain_functions_with_spans_and_converted_values) {
  std::vector<int> data{1, 2, 3};
  free_kernel_sum = 0;
  const device_span<const int> span(data.data(), data.size(), 1);
  auto c = make_kernel_command(task("k"), &free_kernel, span, 10.0F);
  EXPECT_THAT(run(c), IsOk());
  EXPECT_EQ(free_kernel_sum, 36);
}

TEST(kernel_closure, hands_on_the_block_and_gives_each_block_its_own_values) {
  std::vector<std::string> seen;
  auto c = make_kernel_command(
      {"k", 3},
      [&seen](const block& b, std::string text) {
        text += std::to_string(b.index) + "/" + std::to_string(b.count);
        seen.push_back(text);
      },
      std::string("block "));
  EXPECT_EQ(c.blocks, 3U);
  EXPECT_THAT(run(c, {0, 3, {}}), IsOk());
  EXPECT_THAT(run(c, {2, 3, {}}), IsOk());
  EXPECT_THAT(seen, ::testing::ElementsAre("block 0/3", "block 2/3"));
}

TEST(kernel_closure, hands_on_the_status_that_a_kernel_returns) {
  auto c = make_kernel_command(task("k"), [](int wanted) {
    return wanted == 1 ? make_status(code::over_limit, "said no") : status{};
  }, 1);
  EXPECT_THAT(run(c), HasCode(code::over_limit));
}

TEST(kernel_closure, lets_exceptions_through) {
  auto c = make_kernel_command(task("k"), [] { throw std::runtime_error("thrown"); });
  EXPECT_THROW((void)run(c), std::runtime_error);
}

TEST(kernel_closure, a_stop_view_follows_its_mark) {
  std::atomic<std::uint64_t> mark = 0;
  const stop_view third(mark, 3);
  EXPECT_FALSE(third.requested());
  mark = 2;
  EXPECT_FALSE(third.requested());
  mark = 3;
  EXPECT_TRUE(third.requested());
  EXPECT_FALSE(stop_view{}.requested());
}

TEST(device_span, a_part_is_cut_to_what_there_is) {
  int data[10] = {};
  const device_span<int> whole(data, 10, 4);
  EXPECT_EQ(whole.size_bytes(), 10 * sizeof(int));
  const auto part = whole.subspan(7, 100);
  EXPECT_EQ(part.data(), data + 7);
  EXPECT_EQ(part.size(), 3U);
  EXPECT_EQ(part.context_id(), 4U);
  EXPECT_EQ(whole.subspan(11).size(), 0U);
  const device_span<const int> reading = whole;
  EXPECT_EQ(reading.data(), data);
}

} // namespace
} // namespace troupe
