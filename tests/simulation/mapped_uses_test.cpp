// What is under way keeps the mapped memory that it uses, however long an engine takes its time, sets
// it aside, or is given up on (decision 14, D2).

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "tests/support/simulated.hpp"
#include "tests/support/status_matchers.hpp"

namespace troupe {
namespace {

using namespace std::chrono_literals;

constexpr auto unit = device::mapping_granularity;
constexpr std::size_t count = 1000;

testing::simulation_options slow_work() {
  testing::simulation_options made;
  made.costs.kernels["work"] = 1'000'000;
  made.runtime.devices.resize(1);
  made.runtime.stop_bound_ms = 20;
  return made;
}

// A context with one unit of mapped memory, all of it zero.
struct mapped_unit {
  explicit mapped_unit(testing::stage& play)
      : dev(play.runtime().device(0).value()), ctx(dev.create_context().value()),
        s(ctx.create_stream().value()), range(dev.reserve(unit).value()) {
    range.map(0, dev.create_physical(unit).value()).or_throw();
    range.set_access(mapped_access::read_write, ctx).or_throw();
    view = range.view<int>(ctx, 0, count).value();
  }
  [[nodiscard]] std::uint64_t used() const { return dev.memory().value().used; }

  device dev;
  context ctx;
  stream s;
  address_range range;
  device_span<int> view;
};

TEST(mapped_uses, D2_a_kernel_that_an_engine_has_begun_keeps_what_is_unmapped_meanwhile) {
  (void)play_out(slow_work(), [](testing::stage& play) {
    mapped_unit mapped(play);
    int sum = -1;
    const auto add = [&sum](gsl::span<int> all) { sum = all[0] + all[count - 1]; };
    ASSERT_THAT(mapped.s.fill_bytes(mapped.view, 1), IsOk());
    ASSERT_THAT(mapped.s.synchronize(), IsOk());
    ASSERT_THAT(mapped.s.launch("work", add, mapped.view), IsOk());
    ASSERT_THAT(mapped.s.launch("work", add, mapped.view), IsOk());
    play.pass_time(500us);
    ASSERT_THAT(mapped.range.unmap(0), IsOk());
    EXPECT_EQ(mapped.used(), unit);
    const auto outcome = mapped.s.synchronize();
    EXPECT_EQ(sum, 0x02020202) << "the first ran on the memory that it had begun with";
    EXPECT_THAT(outcome, SaysThat("task 3 'work'")) << "the second begins after the unmapping";
    EXPECT_EQ(mapped.s.counters().failed, 1U);
    EXPECT_EQ(mapped.used(), 0U);
  });
}

TEST(mapped_uses, D2_a_copy_in_several_chunks_keeps_what_is_unmapped_meanwhile) {
  auto options = slow_work();
  options.runtime.copy_chunk_kib = 4;
  (void)play_out(options, [](testing::stage& play) {
    mapped_unit mapped(play);
    const auto all = mapped.range.view<char>(mapped.ctx, 0, unit).value();
    auto host = play.runtime().allocate_host<char>(unit).value();
    std::fill(host.begin(), host.end(), 1);
    ASSERT_THAT(mapped.s.fill_bytes(all, 7), IsOk());
    ASSERT_THAT(mapped.s.synchronize(), IsOk());
    ASSERT_THAT(mapped.s.copy(host, all), IsOk());
    play.wait_until([&] { return host[0] == 7; });
    ASSERT_EQ(host[unit - 1], 1) << "it is in the middle";
    ASSERT_THAT(mapped.range.unmap(0), IsOk());
    EXPECT_THAT(mapped.s.synchronize(), IsOk());
    EXPECT_EQ(std::count(host.begin(), host.end(), 7), static_cast<std::ptrdiff_t>(unit));
    EXPECT_EQ(mapped.used(), 0U);
  });
}

TEST(mapped_uses, D2_a_replay_keeps_what_its_nodes_use_from_the_first_to_the_last) {
  (void)play_out(slow_work(), [](testing::stage& play) {
    mapped_unit mapped(play);
    graph g("chain");
    node last;
    for (int i = 0; i < 3; ++i) {
      const auto add = [](gsl::span<int> all) {
        for (auto& each : all) ++each;
      };
      const node next = g.add_kernel("work", add, mapped.view).value();
      if (i > 0) g.add_dependency(last, next).or_throw();
      last = next;
    }
    int seen = 0;
    const auto look = [&seen](gsl::span<const int> all) { seen = all[count - 1]; };
    g.add_dependency(last, g.add_kernel("look", look, mapped.view).value()).or_throw();
    const auto run = executable_graph::instantiate(mapped.ctx, g).value();
    ASSERT_THAT(run.launch(mapped.s), IsOk());
    play.pass_time(1500us); // within the second
    ASSERT_THAT(mapped.range.unmap(0), IsOk());
    EXPECT_EQ(mapped.used(), unit);
    EXPECT_THAT(mapped.s.synchronize(), IsOk());
    EXPECT_EQ(seen, 3);
    EXPECT_EQ(mapped.used(), 0U);
    EXPECT_THAT(run.launch(mapped.s), SaysThat("node 'work' of graph 'chain'"));
    EXPECT_THAT(executable_graph::instantiate(mapped.ctx, g), HasCode(code::invalid_parameter));
    EXPECT_EQ(run.replays(), 1U);
  });
}

TEST(mapped_uses, D2_a_replay_that_waits_in_its_stream_fails_when_its_memory_is_unmapped) {
  (void)play_out(slow_work(), [](testing::stage& play) {
    mapped_unit mapped(play);
    graph g("late");
    bool ran = false;
    (void)g.add_kernel("touch", [&ran](gsl::span<int>) { ran = true; }, mapped.view).value();
    const auto run = executable_graph::instantiate(mapped.ctx, g).value();
    auto hold = play.runtime().create_signal();
    ASSERT_THAT(mapped.s.wait(hold), IsOk());
    ASSERT_THAT(run.launch(mapped.s), IsOk());
    ASSERT_THAT(mapped.range.unmap(0), IsOk());
    hold.raise();
    EXPECT_THAT(mapped.s.synchronize(), SaysThat("have nothing mapped at offset 0"));
    EXPECT_FALSE(ran);
  });
}

TEST(mapped_uses, what_an_engine_would_never_end_is_kept_until_an_abort_has_it_let_go) {
  auto options = under(fault_at(fault_point::execute, fault_action::never_complete()));
  options.runtime = slow_work().runtime;
  options.faults->entries[0].pick.operation = "work";
  (void)play_out(options, [](testing::stage& play) {
    mapped_unit mapped(play);
    ASSERT_THAT(mapped.s.launch("work", [](gsl::span<int>) {}, mapped.view), IsOk());
    play.pass_time(1ms);
    ASSERT_THAT(mapped.range.unmap(0), IsOk());
    play.pass_time(100ms);
    EXPECT_EQ(mapped.used(), unit);
    ASSERT_THAT(mapped.s.abort(), IsOk());
    play.pass_time(100ms);
    EXPECT_EQ(mapped.used(), 0U);
    EXPECT_THAT(mapped.s.launch("after", [] {}), IsOk());
    EXPECT_THAT(mapped.s.synchronize(), IsOk());
  });
}

} // namespace
} // namespace troupe
