#include "core/exploration/oracle.hpp"

#include <gtest/gtest.h>

#include "tests/support/status_matchers.hpp"

namespace troupe {
namespace {

run_event event(happening what, std::uint64_t stream, std::uint64_t number,
                command_kind kind = command_kind::kernel) {
  run_event made;
  made.what = what;
  made.kind = kind;
  made.name = "work";
  made.stream = stream;
  made.number = number;
  return made;
}

run_event wait(std::uint64_t stream, std::uint64_t number, std::uint64_t for_stream,
               std::uint64_t for_number) {
  auto made = event(happening::submitted, stream, number, command_kind::wait);
  made.awaited_stream = for_stream;
  made.awaited_number = for_number;
  return made;
}

// What the default oracles have against these events, as "name: text" lines.
std::string judged(std::vector<run_event> events) {
  run_record record;
  record.events = std::move(events);
  std::string text;
  for (const auto& each : judge(record, default_oracles())) {
    text += each.oracle + ": " + each.what + "\n";
  }
  return text;
}

using enum happening;

TEST(oracle, has_nothing_against_a_command_that_takes_its_way) {
  EXPECT_EQ(judged({event(submitted, 1, 1), event(submitted, 1, 2), event(begun, 1, 1),
                    event(worked, 1, 1), event(published, 1, 1), event(begun, 1, 2),
                    event(worked, 1, 2), event(failed, 1, 2), event(published, 1, 2)}),
            "");
}

TEST(oracle, fifo_sees_commands_out_of_their_order) {
  const auto two = {event(submitted, 1, 1), event(submitted, 1, 2)};
  auto early = std::vector<run_event>(two);
  early.push_back(event(begun, 1, 2));
  EXPECT_EQ(judged(early), "fifo: stream 1 #2 kernel 'work' begun when #1 had not ended\n");
  auto gap = std::vector<run_event>(two);
  gap.push_back(event(dropped, 1, 2));
  gap.push_back(event(published, 1, 2));
  EXPECT_NE(judged(gap).find("fifo: stream 1 #2 kernel 'work' published after #0"),
            std::string::npos);
  EXPECT_NE(judged({event(submitted, 1, 2)}).find("submitted after #0"), std::string::npos);
  EXPECT_NE(judged({event(dropped, 1, 1), event(published, 1, 1)}).find("never submitted"),
            std::string::npos);
}

TEST(oracle, fifo_keeps_streams_and_runtimes_apart) {
  auto other = event(submitted, 1, 1);
  other.runtime = 2;
  EXPECT_EQ(judged({event(submitted, 1, 1), event(submitted, 2, 1), other}), "");
}

TEST(oracle, tickets_sees_a_wait_that_did_not_wait) {
  const std::vector<run_event> start{event(submitted, 1, 1), wait(2, 1, 1, 1)};
  auto ignored = start;
  ignored.push_back(event(published, 2, 1, command_kind::wait));
  EXPECT_EQ(judged(ignored), "tickets: stream 2 #1 wait 'work' published when stream 1 was at "
                             "#0 and not yet at #1\n")
      << judged(ignored);
  auto failing = start;
  failing.push_back(event(failed, 2, 1, command_kind::wait));
  failing.push_back(event(published, 2, 1, command_kind::wait));
  EXPECT_EQ(judged(failing), "");
}

TEST(oracle, tickets_sees_a_wait_that_did_not_wait_for_its_signal) {
  const std::vector<run_event> start{event(submitted, 2, 1, command_kind::wait)};
  auto raised = start;
  raised.push_back(event(published, 2, 1, command_kind::wait));
  EXPECT_EQ(judged(raised), "");
  auto ignored = raised;
  ignored.back().detail = 1;
  EXPECT_EQ(judged(ignored),
            "tickets: stream 2 #1 wait 'work' published when its signal had not been raised\n");
  ignored.insert(ignored.begin() + 1, event(failed, 2, 1, command_kind::wait));
  EXPECT_EQ(judged(ignored), "");
}

TEST(oracle, truth_sees_success_without_work_and_work_done_twice) {
  EXPECT_EQ(judged({event(submitted, 1, 1), event(published, 1, 1)}),
            "truth: stream 1 #1 kernel 'work' published, and it neither worked nor failed\n");
  EXPECT_EQ(judged({event(submitted, 1, 1), event(dropped, 1, 1), event(published, 1, 1)}), "");
  EXPECT_EQ(judged({event(submitted, 1, 1, command_kind::record),
                    event(published, 1, 1, command_kind::record)}),
            "");
  const auto twice = judged({event(submitted, 1, 1), event(begun, 1, 1), event(begun, 1, 1)});
  EXPECT_NE(twice.find("truth: stream 1 #1 kernel 'work' begun a second time"), std::string::npos);
  EXPECT_NE(judged({event(submitted, 1, 1), event(worked, 1, 1), event(worked, 1, 1)})
                .find("worked a second time"),
            std::string::npos);
}

TEST(oracle, truth_sees_a_host_thread_that_was_told_too_early) {
  EXPECT_EQ(judged({event(submitted, 4, 1), event(told, 4, 1)}),
            "truth: a host thread was told that stream 4 has reached #1 when it was at #0\n");
}

TEST(oracle, copies_names_the_byte) {
  auto wrong = event(miscopied, 1, 1, command_kind::copy_h2d);
  wrong.detail = 17;
  EXPECT_NE(judged({event(submitted, 1, 1), wrong}).find("byte 17 is not its source's"),
            std::string::npos);
}

TEST(oracle, reuse_names_the_work_and_the_block) {
  auto robbed = event(happening::robbed, 2, 1);
  robbed.detail = 256;
  EXPECT_EQ(judged({event(submitted, 2, 1), robbed}),
            "reuse: stream 2 #1 kernel 'work' robbed: a block of 256 bytes that it touches was "
            "handed out to others before it had ended\n");
}

TEST(oracle, the_end_is_as_the_start_and_each_request_has_one_answer) {
  run_record record;
  record.answers = {1, 1};
  record.accounts = {{"bytes of device 0", 0, 0}};
  EXPECT_TRUE(judge(record, default_oracles()).empty());
  record.answers = {1, 0};
  record.accounts = {{"bytes of device 0", 0, 512}, {"streams of device 0", 0, 0}};
  record.survivors = {"2 actors"};
  record.liveness = "device 0: dead";
  const auto broken = judge(record, default_oracles());
  ASSERT_EQ(broken.size(), 4U);
  EXPECT_EQ(describe(broken[0]), "oracle 'answers': request 2 of the run's clients got 0 answers");
  EXPECT_EQ(describe(broken[1]),
            "oracle 'accounts': bytes of device 0: 0 at the start, 512 at the end");
  EXPECT_EQ(describe(broken[2]), "oracle 'survivors': left at the end: 2 actors");
  EXPECT_EQ(describe(broken[3]), "oracle 'liveness': device 0: dead");
  record.liveness.clear();
  record.hung = true; // waits were broken off: nothing of this is to be expected
  EXPECT_TRUE(judge(record, default_oracles()).empty());
}

TEST(oracle, the_choice_knows_the_names) {
  const oracle mine{"mine", [](const run_record&) { return std::string("no"); }};
  auto chosen = select_oracles({"fifo", "copies"}, {mine});
  ASSERT_TRUE(chosen);
  EXPECT_EQ(chosen.value().size(), default_oracles().size() - 1);
  EXPECT_EQ(chosen.value().back().name, "mine");
  EXPECT_THAT(select_oracles({"fifoo"}, {}), SaysThat("'fifoo'; the default oracles are answers"));
  EXPECT_THAT(select_oracles({}, {mine, mine}), SaysThat("'mine' among `oracles` has the name"));
  EXPECT_THAT(select_oracles({}, {{"empty", nullptr}}), SaysThat("no check"));
}

} // namespace
} // namespace troupe
