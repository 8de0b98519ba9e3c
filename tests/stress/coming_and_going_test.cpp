#include <atomic>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include "tests/stress/rounds.hpp"

namespace troupe {
namespace {

runtime_options with_many_engines() {
  auto made = test_options(2);
  made.compute_threads = 4;
  return made;
}

class shared_stream : public stage_test {};

TEST_F(shared_stream, takes_every_command_of_eight_threads_in_the_order_of_each) {
  constexpr unsigned threads = 8;
  const auto rounds = stress_rounds(500);
  auto narrow = ctx.create_stream({4, 4}).value();
  // Plain: only the stream orders the kernels that touch it.
  std::vector<unsigned> last(threads, 0);
  std::uint64_t ran = 0;
  unsigned disorders = 0;
  std::vector<std::thread> clients;
  for (unsigned t = 0; t < threads; ++t) {
    clients.emplace_back([&, t, mine = narrow]() mutable {
      for (unsigned i = 1; i <= rounds; ++i) {
        const auto accepted = mine.launch("count", [&, t, i] {
          if (last[t] + 1 != i) ++disorders;
          last[t] = i;
          ++ran;
        });
        EXPECT_THAT(accepted, IsOk());
        if (i % 64 != 0) continue;
        EXPECT_THAT(mine.synchronize(), IsOk());
      }
    });
  }
  for (auto& each : clients) each.join();
  ASSERT_THAT(narrow.synchronize(), IsOk());
  EXPECT_EQ(ran, std::uint64_t{threads} * rounds);
  EXPECT_EQ(disorders, 0U);
  EXPECT_EQ(narrow.counters().completed, std::uint64_t{threads} * rounds);
}

class coming_and_going : public ::testing::Test {
protected:
  runtime rt{with_many_engines()};
};

TEST_F(coming_and_going, of_contexts_streams_events_and_pools_does_not_disturb_others) {
  const auto rounds = stress_rounds(60);
  const auto steady = rt.device(0).value().create_context().value();
  std::atomic<bool> done = false;
  std::uint64_t steps = 0; // plain: ordered by the steady stream
  std::thread neighbour([&] {
    auto s = steady.create_stream().value();
    while (!done) {
      for (int i = 0; i < 16; ++i) EXPECT_THAT(s.launch("step", [&steps] { ++steps; }), IsOk());
      EXPECT_THAT(s.synchronize(), IsOk());
    }
    EXPECT_EQ(steps, s.counters().completed);
  });
  std::vector<std::thread> visitors;
  for (unsigned t = 0; t < 4; ++t) {
    visitors.emplace_back([&, t] {
      for (unsigned i = 0; i < rounds; ++i) {
        auto ctx = rt.device(t % 2).value().create_context().value();
        auto first = ctx.create_stream({i % 8, 0}).value();
        auto second = ctx.create_stream().value();
        const auto mark = ctx.create_event().value();
        const auto pool = ctx.create_pool().value();
        const auto sum = ctx.allocate<unsigned>(1, initial::cleared).value();
        for (int k = 0; k < 4; ++k) {
          const auto scratch = pool.allocate<unsigned>(first, 256).value();
          const auto fill = [](std::span<unsigned> to) { to[0] = 5; };
          const auto add = [](std::span<const unsigned> from, std::span<unsigned> to) {
            to[0] += from[0];
          };
          EXPECT_THAT(first.launch("fill", fill, scratch), IsOk());
          EXPECT_THAT(first.launch("add", add, scratch, sum), IsOk());
        }
        EXPECT_THAT(first.record(mark), IsOk());
        EXPECT_THAT(second.wait(mark), IsOk());
        std::vector<unsigned> out(1);
        EXPECT_THAT(second.copy(out, sum), IsOk());
        EXPECT_EQ(out[0], 20U);
        // The rest end by their handles.
        const auto ended = i % 3 == 0 ? first.destroy() : i % 3 == 1 ? ctx.destroy() : status{};
        EXPECT_THAT(ended, IsOk());
      }
    });
  }
  for (auto& each : visitors) each.join();
  done = true;
  neighbour.join();
  EXPECT_THAT(steady.destroy(), IsOk());
  await_empty(rt);
}

// A context that goes while others use it: every call gets a fair answer, and nothing is left.
TEST_F(coming_and_going, of_a_context_in_use_gives_fair_answers) {
  const auto rounds = stress_rounds(40);
  for (unsigned i = 0; i < rounds; ++i) {
    const auto ctx = rt.device(0).value().create_context().value();
    auto shared = ctx.create_stream().value();
    std::atomic<unsigned> at_work = 0;
    std::vector<std::thread> users;
    for (unsigned t = 0; t < 3; ++t) {
      users.emplace_back([&, t, mine = shared]() mutable {
        const auto fair = [](const status& s) { EXPECT_TRUE(is_fair_reply(s)) << s.describe(); };
        ++at_work;
        for (bool usable = true; usable;) {
          fair(mine.launch("work", [] {}));
          const auto memory = ctx.allocate<char>(1000);
          fair(memory.error());
          if (memory) fair(mine.fill_bytes(memory.value(), 1));
          if (t == 0) fair(ctx.create_stream().error());
          if (t == 1) fair(ctx.create_pool().error());
          if (t == 2) fair(mine.abort());
          fair(mine.synchronize());
          usable = ctx.health().ok();
        }
      });
    }
    await([&] { return at_work == 3; });
    EXPECT_THAT(ctx.destroy(), IsOk());
    for (auto& each : users) each.join();
  }
  await_empty(rt);
}

TEST_F(coming_and_going, of_runtimes_with_work_in_flight_ends) {
  const auto rounds = stress_rounds(20);
  for (unsigned i = 0; i < rounds; ++i) {
    auto options = with_many_engines();
    options.stop_bound_ms = 5000;
    runtime mortal(options);
    const auto ctx = mortal.device(i % 2).value().create_context().value();
    const auto held = mortal.create_signal();
    auto waits = ctx.create_stream().value();
    auto works = ctx.create_stream().value();
    EXPECT_THAT(waits.wait(held), IsOk());
    std::atomic<bool> stopped = false;
    std::thread other([&] {
      while (works.launch({"work", 3}, [](const block&) {}).ok()) {
      }
      stopped = true;
    });
    std::thread waiter([&] {
      const auto s = waits.synchronize();
      EXPECT_TRUE(is_fair_reply(s) || s.code() == code::uninitialized) << s.describe();
    });
    EXPECT_THAT(works.launch("once", [] {}), IsOk());
    EXPECT_THAT(mortal.shutdown(), IsOk());
    other.join();
    waiter.join();
    EXPECT_TRUE(stopped);
    EXPECT_THAT(works.launch("late", [] {}), HasCode(code::uninitialized));
  }
}

TEST(block_launches, are_exact_while_other_streams_run) {
  runtime rt(with_many_engines());
  const auto ctx = rt.device(0).value().create_context().value();
  const auto rounds = stress_rounds(60);
  constexpr std::uint32_t blocks = 64;
  constexpr std::size_t part = 64;
  const auto data = ctx.allocate<std::uint32_t>(blocks * part, initial::cleared).value();
  std::atomic<bool> done = false;
  std::thread neighbour([&] {
    auto s = ctx.create_stream({0, 0}).value();
    while (!done) {
      for (int i = 0; i < 8; ++i) EXPECT_THAT(s.launch({"other", 5}, [](const block&) {}), IsOk());
      EXPECT_THAT(s.synchronize(), IsOk());
    }
  });
  auto s = ctx.create_stream().value();
  for (unsigned i = 0; i < rounds; ++i) {
    EXPECT_THAT(s.launch({"add", blocks},
                         [](const block& b, std::span<std::uint32_t> all) {
                           const auto share = all.size() / b.count;
                           const auto mine = all.subspan(b.index * share, share);
                           for (auto& each : mine) each += b.index + 1;
                         },
                         data),
                IsOk());
  }
  std::vector<std::uint32_t> out(blocks * part);
  EXPECT_THAT(s.copy(out, data), IsOk());
  done = true;
  neighbour.join();
  for (std::size_t i = 0; i < out.size(); ++i) {
    ASSERT_EQ(out[i], rounds * (i / part + 1)) << "element " << i;
  }
  EXPECT_THAT(s.synchronize(), IsOk());
}

} // namespace
} // namespace troupe
