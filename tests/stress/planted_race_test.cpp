#include "actors/scheduling/thread_sanitizer.hpp"

#ifdef TROUPE_THREAD_SANITIZER

#include <cstdlib>

#include "tests/stress/rounds.hpp"

namespace troupe {
namespace {

// Two kernels on two streams touch one plain number, with or without an event between them. Both
// are queued before either stream begins, so that no lock of the runtime comes between them.
void touch_from_two_streams(bool ordered) {
  auto options = test_options(1);
  options.compute_threads = 2;
  runtime rt(options);
  const auto ctx = rt.device(0).value().create_context().value();
  auto first = ctx.create_stream().value();
  auto second = ctx.create_stream().value();
  const auto between = ctx.create_event().value();
  int touched = 0;
  // Each holds an engine until the other has arrived, so that the two run on two threads.
  std::atomic<int> arrived = 0;
  const auto meet = [&arrived] {
    arrived.fetch_add(1, std::memory_order_relaxed);
    while (arrived.load(std::memory_order_relaxed) < 2) {
    }
  };
  const auto start = rt.create_signal();
  (void)first.wait(start);
  (void)second.wait(start);
  (void)first.launch("meet", meet);
  (void)second.launch("meet", meet);
  (void)first.launch("touch", [&touched] { touched += 1; });
  if (ordered) {
    (void)first.record(between);
    (void)second.wait(between);
  }
  (void)second.launch("touch", [&touched] { touched += 1; });
  start.raise();
  (void)ctx.synchronize();
  (void)rt.shutdown();
  std::_Exit(touched == 2 ? 0 : 1);
}

// The child's options replace those of the environment: its report must end it with this code.
TEST(PlantedRaceDeathTest, a_race_between_two_streams_is_still_seen) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(touch_from_two_streams(false), ::testing::ExitedWithCode(66),
              "WARNING: ThreadSanitizer: data race");
}

TEST(PlantedRaceDeathTest, an_event_between_them_is_order_enough) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(touch_from_two_streams(true), ::testing::ExitedWithCode(0), "");
}

} // namespace
} // namespace troupe

#endif
