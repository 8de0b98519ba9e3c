// What is there in finite number: shared with neighbours, asked about, and named when it runs out.

#include <string>
#include <vector>

#include "tests/support/stage.hpp"
#include "troupe/testing.hpp"

namespace troupe {
namespace {

runtime_options with_limits() {
  auto made = test_options(1);
  made.devices[0].stream_limit = 7; // two are the fixture's: its stream, and the default one
  made.devices[0].event_limit = 5;
  made.queue_depth = 4;
  made.submit_timeout_ms = 1;
  return made;
}

class limits : public stage_test {
protected:
  limits() : stage_test(with_limits()) {}
};

void expect_shortage(const status& refused, code what, const std::string& resource,
                     std::uint64_t used, std::uint64_t limit) {
  EXPECT_THAT(refused, HasCode(what));
  ASSERT_TRUE(refused.record());
  ASSERT_TRUE(refused.record()->lacking) << refused.describe();
  const auto& lacking = *refused.record()->lacking;
  EXPECT_EQ(lacking.resource, resource);
  EXPECT_EQ(lacking.asked, 1U);
  EXPECT_EQ(lacking.used, used);
  EXPECT_EQ(lacking.limit, limit);
}

TEST_F(limits, J1_streams_and_events_that_a_neighbour_holds_are_not_ours) {
  EXPECT_EQ(dev.available().streams, 5U);
  EXPECT_EQ(dev.available().events, 5U);
  {
    const testing::neighbour other(dev, 3, 4);
    EXPECT_EQ(dev.available().streams, 2U);
    EXPECT_EQ(dev.available().events, 1U);
    auto first = ctx.create_stream().value();
    auto second = ctx.create_stream().value();
    expect_shortage(ctx.create_stream().error(), code::resource_shortage, "streams", 7, 7);
    auto mark = ctx.create_event().value();
    expect_shortage(ctx.create_event().error(), code::no_event_resource, "events", 5, 5);
    EXPECT_THROW(testing::neighbour(dev, 1), error);
    EXPECT_EQ(dev.available().streams, 0U);
  }
  await([this] { return dev.available().streams == 5U && dev.available().events == 5U; });
  EXPECT_THAT(ctx.create_stream(), IsOk());
  EXPECT_THAT(ctx.create_event(), IsOk());
}

TEST_F(limits, E7_each_resource_that_runs_out_has_its_code_and_says_asked_used_and_limit) {
  std::vector<stream> streams;
  while (dev.available().streams > 0) streams.push_back(ctx.create_stream().value());
  expect_shortage(ctx.create_stream().error(), code::resource_shortage, "streams", 7, 7);
  std::vector<event> events;
  while (dev.available().events > 0) events.push_back(ctx.create_event().value());
  expect_shortage(ctx.create_event().error(), code::no_event_resource, "events", 5, 5);
  const auto hold = rt.create_signal();
  ASSERT_THAT(s.wait(hold), IsOk());
  for (int i = 1; i < 4; ++i) ASSERT_THAT(s.launch("work", [] {}), IsOk());
  expect_shortage(s.launch("one more", [] {}), code::queue_full, "queued commands", 4, 4);
  const auto memory = ctx.allocate<char>(dev.available().memory_bytes * 2).error();
  EXPECT_THAT(memory, HasCode(code::memory_allocation));
  ASSERT_TRUE(memory.record()->lacking);
  EXPECT_NE(memory.record()->lacking->resource.find("memory"), std::string::npos);
  hold.raise();
  EXPECT_THAT(s.synchronize(), IsOk());
}

TEST_F(limits, F4_health_is_told_without_effects_and_a_context_that_failed_leaves_others_alone) {
  auto other = dev.create_context().value();
  auto fine = other.create_stream().value();
  EXPECT_EQ(dev.health(), device_health::usable);
  EXPECT_EQ(rt.health(0).value(), device_health::usable);
  ASSERT_THAT(s.set_failure_mode(failure_mode::stop), IsOk());
  ASSERT_THAT(s.launch("fatal", [] { throw error(code::kernel_exception, "fatal"); }), IsOk());
  EXPECT_THAT(s.synchronize(), HasCode(code::kernel_exception));
  for (int i = 0; i < 50; ++i) {
    EXPECT_THAT(s.launch("later", [] {}), HasCode(code::kernel_exception));
    EXPECT_THAT(ctx.health(), HasCode(code::kernel_exception));
  }
  EXPECT_EQ(dev.health(), device_health::usable) << "it is the context that is not";
  int ran = 0;
  for (int i = 0; i < 1'000; ++i) {
    while (fine.launch("fine", [&ran] { ++ran; }).code() == code::queue_full) {
    }
  }
  EXPECT_THAT(fine.synchronize(), IsOk());
  EXPECT_EQ(ran, 1'000);
  EXPECT_THAT(s.destroy(), IsOk());
  EXPECT_THAT(ctx.destroy(), IsOk());
  auto again = dev.create_context().value();
  auto works = again.create_stream().value();
  EXPECT_THAT(works.launch("work", [] {}), IsOk());
  EXPECT_THAT(works.synchronize(), IsOk());
}

} // namespace
} // namespace troupe
