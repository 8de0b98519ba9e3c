#include "actors/scheduling/spawn.hpp"

#include <caf/actor_cast.hpp>

#include "actors/context_record.hpp"
#include "actors/device_record.hpp"
#include "actors/stream_record.hpp"
#include "api/src/states.hpp"
#include "tests/support/stage.hpp"
#include "troupe/testing.hpp"

namespace troupe {
namespace {

bool is_wired(const caf::actor& who) {
  return dynamic_cast<wired_actor*>(caf::actor_cast<caf::abstract_actor*>(who)) != nullptr;
}

// How many of the actors behind `s` have a wire in front of their mailbox, of four.
int wired_behind(const stream& s) {
  const auto& record = *s.state()->record;
  const auto& device = record.context().device();
  return is_wired(record.actor) + is_wired(record.context().actor) + is_wired(device.actor) +
         is_wired(device.memory_keeper);
}

class spawn_test : public stage_test {};

// What stands on stage live costs nothing for what testing needs.
TEST_F(spawn_test, the_plain_class_is_what_a_live_run_without_a_plan_is_played_by) {
  EXPECT_EQ(wired_behind(s), 0);
}

TEST_F(spawn_test, a_simulated_run_is_played_by_wired_ones) {
  (void)testing::simulate({}, [](testing::stage& play) {
    const auto context = play.runtime().device(0).value().create_context().value();
    EXPECT_EQ(wired_behind(context.create_stream().value()), 4);
  });
}

} // namespace
} // namespace troupe
