#include "core/faults/fault_channel.hpp"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/faults/fault_plan.hpp"
#include "tests/support/status_matchers.hpp"

namespace troupe {
namespace {

using testing::HasSubstr;

std::string refusal(const std::string& pick, const std::string& kind) {
  const auto read = fault_plan::from_json(R"({"entries": [{"pick": )" + pick +
                                          R"(, "action": {"kind": ")" + kind + R"("}}]})");
  return read ? "" : read.error().message();
}

TEST(fault_channel, a_name_is_taken_apart) {
  const auto made = parse_fault_channel("stream 31>port dma_h2d of device 2");
  ASSERT_TRUE(made);
  EXPECT_EQ(made->point, fault_point::handoff);
  EXPECT_EQ(made->engine, "dma_h2d");
  EXPECT_EQ(made->stream, 31U);
  EXPECT_EQ(made->device, 2U);
  EXPECT_EQ(parse_fault_channel("from memory of device 0")->point, fault_point::allocate);
  EXPECT_EQ(parse_fault_channel("from memory 6")->point, fault_point::reply);
  for (const auto* wrong : {"", "to", "to nobody 3", "to stream", "to stream x", "client>stream 3 ",
                            "stream 3>gpu of device 0", "stream >who waits", "engine>stream -1"}) {
    EXPECT_FALSE(parse_fault_channel(wrong)) << wrong;
  }
}

TEST(fault_channel, names_that_no_site_has_are_refused_with_those_that_there_are) {
  EXPECT_THAT(refusal(R"({"point": "message", "message": "no_such_message"})", "drop"),
              HasSubstr("entry 1: pick.message: \"no_such_message\" is none that any actor "
                        "understands; these are open_device, create_context"));
  EXPECT_THAT(refusal(R"({"point": "reply", "operation": "no_such_call"})", "drop"),
              HasSubstr("pick.operation: \"no_such_call\" is no call that an actor answers; these "
                        "are buffer::free, context::allocate"));
  EXPECT_THAT(
      refusal(R"({"point": "message", "channel": "stream 3>compute of device 0"})", "drop"),
      HasSubstr("pick.channel: \"stream 3>compute of device 0\" is no channel at pick.point "
                "\"message\"; there, channels are called to ROLE ID"));
  EXPECT_THAT(refusal(R"({"point": "message", "channel": "to pool 3", "message": "doorbell"})",
                      "drop"),
              HasSubstr("\"doorbell\" is none that pool understands; these are grow_pool, "
                        "close_pool"));
}

TEST(fault_channel, what_contradicts_itself_is_refused) {
  const std::string channel = R"({"point": "execute", "channel": "stream 3>compute of device 0")";
  EXPECT_EQ(refusal(channel + R"(, "device": 0, "stream": 3, "engine": "compute"})", "slow").find(
                "pick.channel"),
            std::string::npos);
  EXPECT_THAT(refusal(channel + R"(, "device": 1})", "never_complete"),
              HasSubstr("is not of pick.device, which is 1"));
  EXPECT_THAT(refusal(channel + R"(, "stream": 4})", "never_complete"),
              HasSubstr("is not of pick.stream, which is 4"));
  EXPECT_THAT(refusal(channel + R"(, "engine": "callback"})", "never_complete"),
              HasSubstr("is not of pick.engine, which is callback"));
  EXPECT_THAT(
      refusal(R"({"point": "allocate", "channel": "from pinned host memory", "context": 2})",
              "refuse_allocation"),
      HasSubstr("is not of pick.context, which is 2"));
}

TEST(fault_channel, what_can_never_happen_is_refused) {
  EXPECT_THAT(refusal(R"({"point": "notice", "chance": 0})", "drop"),
              HasSubstr("pick.chance: 0 is not a number above 0 and up to 1"));
  EXPECT_THAT(refusal(R"({"point": "execute", "engine": "callback"})", "corrupt"),
              HasSubstr("\"corrupt\" has nothing to corrupt on the engine \"callback\""));
  EXPECT_THAT(
      refusal(R"({"point": "execute", "channel": "stream 3>callback of device 0"})", "corrupt"),
      HasSubstr("has nothing to corrupt"));
  EXPECT_EQ(refusal(R"({"point": "execute", "engine": "dma_h2d"})", "corrupt"), "");
}

} // namespace
} // namespace troupe
