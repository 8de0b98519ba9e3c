// Host memory that the program registers: asynchronous copies and zero-copy views, and their rules
// (D1, D3, S8).

#include <algorithm>
#include <utility>
#include <vector>

#include "tests/support/stage.hpp"

namespace troupe {
namespace {

constexpr std::size_t count = 1000;

class registered : public stage_test {
protected:
  [[nodiscard]] registered_memory enlist(std::vector<int>& memory) const {
    return rt.register_host(gsl::span<int>(memory)).value();
  }

  std::vector<int> host = std::vector<int>(count, 1);
  buffer<int> block = ctx.allocate<int>(count, initial::cleared).value();
  signal hold = rt.create_signal();
};

TEST_F(registered, D1_a_copy_returns_at_once_and_reads_when_it_is_executed) {
  const auto handle = enlist(host);
  ASSERT_THAT(s.wait(hold), IsOk());
  ASSERT_THAT(s.copy(block, host), IsOk()); // would never return if it waited
  std::fill(host.begin(), host.end(), 2);
  hold.raise();
  ASSERT_THAT(s.synchronize(), IsOk());
  std::vector<int> back(count);
  ASSERT_THAT(ctx.copy(back, block), IsOk());
  EXPECT_EQ(back, std::vector<int>(count, 2)) << "the new bytes";
}

TEST_F(registered, D1_every_form_of_copy_is_asynchronous) {
  const auto handle = enlist(host);
  std::vector<float> reals(count, 1.5F);
  const auto floats = rt.register_host(gsl::span<float>(reals)).value();
  const auto halves = ctx.allocate<half>(count).value();
  ASSERT_THAT(s.wait(hold), IsOk());
  ASSERT_THAT(s.copy(block, host), IsOk());
  ASSERT_THAT(s.copy(host, block), IsOk());
  ASSERT_THAT(s.convert(halves, reals), IsOk());
  const std::vector<copy_entry> list{make_copy_entry(block.span(), host)};
  ASSERT_THAT(s.copy_batch({.entries = list}), IsOk());
  EXPECT_EQ(s.counters().completed, 0U);
  hold.raise();
  EXPECT_THAT(s.synchronize(), IsOk());
}

TEST_F(registered, D1_a_copy_that_leaves_the_registered_part_is_an_ordinary_one) {
  const auto part = rt.register_host(gsl::span<int>(host.data(), count / 2)).value();
  ASSERT_THAT(s.copy(block, host), IsOk());
  EXPECT_EQ(s.counters().completed, 1U) << "it has waited";
  ASSERT_THAT(s.wait(hold), IsOk());
  ASSERT_THAT(s.copy(block.span().subspan(0, count / 2), gsl::span<int>(host.data(), count / 2)),
              IsOk());
  hold.raise();
  EXPECT_THAT(s.synchronize(), IsOk());
}

TEST_F(registered, D3_it_is_host_memory_for_directions) {
  const auto handle = enlist(host);
  std::vector<int> other(count);
  const auto too = enlist(other);
  EXPECT_THAT(s.copy(other, host), HasCode(code::not_supported));
  EXPECT_THAT(ctx.copy(other, host), IsOk());
  EXPECT_EQ(other, host);
  EXPECT_THAT(s.fill_bytes(handle.view<int>(ctx, 0, count).value(), 1),
              HasCode(code::invalid_parameter));
}

TEST_F(registered, S8_kernels_work_on_it_in_place) {
  const auto handle = enlist(host);
  const auto view = handle.view<int>(ctx, 0, count).value();
  EXPECT_EQ(view.data(), host.data());
  const auto add = [](gsl::span<int> all) {
    for (auto& each : all) ++each;
  };
  ASSERT_THAT(s.launch("add", add, view), IsOk());
  ASSERT_THAT(s.synchronize(), IsOk());
  EXPECT_EQ(host, std::vector<int>(count, 2));
  EXPECT_THAT(handle.view<int>(ctx, 4, count), HasCode(code::invalid_parameter));
  EXPECT_THAT(handle.view<int>(ctx, 2, 1), HasCode(code::invalid_parameter));
  EXPECT_THAT(registered_memory().view<int>(ctx, 0, 1), HasCode(code::invalid_handle));
}

TEST_F(registered, what_accepted_work_uses_is_not_released_by_a_call) {
  auto handle = enlist(host);
  const auto view = handle.view<int>(ctx, 0, count).value();
  ASSERT_THAT(s.wait(hold), IsOk());
  ASSERT_THAT(s.launch("late", [](gsl::span<int> all) { all[0] = 7; }, view), IsOk());
  EXPECT_THAT(handle.release(), SaysThat("still used by stream " + std::to_string(s.id())));
  hold.raise();
  ASSERT_THAT(s.synchronize(), IsOk());
  EXPECT_EQ(host[0], 7);
  EXPECT_THAT(handle.release(), IsOk());
  EXPECT_THAT(handle.release(), HasCode(code::invalid_parameter));
  ASSERT_THAT(s.copy(block, host), IsOk());
  EXPECT_EQ(s.counters().completed, s.counters().submitted) << "ordinary memory again";
}

TEST_F(registered, the_end_of_a_handle_waits_for_the_work_that_uses_the_memory) {
  std::vector<int> seen(count, 0);
  test_thread raiser([&] { hold.raise(); });
  {
    const auto handle = enlist(seen);
    ASSERT_THAT(s.wait(hold), IsOk());
    ASSERT_THAT(s.fill_bytes(block, 1), IsOk());
    ASSERT_THAT(s.copy(seen, block), IsOk());
  }
  EXPECT_EQ(seen, std::vector<int>(count, 0x01010101));
  raiser.join();
}

TEST_F(registered, the_end_of_a_handle_comes_by_an_abort_as_well) {
  test_thread aborter([&] {
    await([&] { return s.counters().submitted == 2; });
    EXPECT_THAT(s.abort(), IsOk());
  });
  {
    const auto handle = enlist(host);
    ASSERT_THAT(s.wait(hold), IsOk());
    ASSERT_THAT(s.copy(block, host), IsOk());
  }
  aborter.join();
  EXPECT_TRUE(s.query().value());
}

TEST_F(registered, wrong_registrations_are_refused) {
  const auto handle = enlist(host);
  const auto bad = HasCode(code::invalid_parameter);
  EXPECT_THAT(rt.register_host(gsl::span<int>(host)), SaysThat("registered already"));
  EXPECT_THAT(rt.register_host(gsl::span<int>(host.data() + count - 1, 1)), bad);
  std::vector<int> other(count);
  const auto middle = rt.register_host(gsl::span<int>(other.data() + 10, 10)).value();
  EXPECT_THAT(rt.register_host(gsl::span<int>(other.data(), 11)), SaysThat("registered already"));
  EXPECT_THAT(rt.register_host(gsl::span<int>(other.data(), 10)), IsOk()) << "up to it";
  EXPECT_THAT(rt.register_host(gsl::span<int>(block.data(), 4)), SaysThat("memory of device 0"));
  auto pinned = rt.allocate_host<int>(4).value();
  EXPECT_THAT(rt.register_host(pinned.span()), SaysThat("pinned host memory"));
  EXPECT_THAT(rt.register_host(gsl::span<int>()), HasCode(code::bad_argument));
}

} // namespace
} // namespace troupe
