// What happens to the clients of an inference server when a DMA completion is lost, an engine dies,
// or memory runs out; and that nothing of the kind ever gives one of them a wrong answer.

#include <algorithm>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include <troupe/testing_gtest.hpp>
#include <troupe/troupe.hpp>

#include "inference_server.hpp"

namespace {

using troupe::fault_action;
using troupe::fault_point;
using namespace troupe::testing;
using namespace std::chrono_literals;

constexpr std::size_t clients = 3;
constexpr std::size_t rows = 4;

// Client k sends rows full of k + 1; with weights 0, 1, ... 7 each row's score is 28 (k + 1).
std::vector<float> batch_of(std::size_t client) {
  return std::vector<float>(rows * inference_server::columns, static_cast<float>(client + 1));
}

std::vector<float> scores_of(std::size_t client) {
  return std::vector<float>(rows, 28.0F * static_cast<float>(client + 1));
}

// Three clients at once, and what each of them got.
struct rush_hour {
  std::vector<answer> answers;
  std::uint64_t scored = 0;

  void operator()(stage& play) {
    answers.assign(clients, {});
    std::vector<float> weights(inference_server::columns);
    std::iota(weights.begin(), weights.end(), 0.0F);
    std::optional<inference_server> server;
    try {
      server.emplace(play.runtime(), weights);
    } catch (const troupe::error&) {
      return; // no device, no context: then there is no server, and that was said
    }
    std::vector<client> all;
    for (std::size_t i = 0; i < clients; ++i) {
      all.push_back(play.start_client("client " + std::to_string(i), [this, &server, i] {
        answers[i] = server->score(batch_of(i));
      }));
    }
    for (auto& each : all) each.join();
    scored = server->scored();
  }

  // What no fault may do: answer wrongly, or fail without a reason.
  [[nodiscard]] std::string complaint() const {
    for (std::size_t i = 0; i < answers.size(); ++i) {
      const auto& each = answers[i];
      if (each.tries == 0) continue;
      if (each.outcome.ok() && each.scores != scores_of(i)) {
        return "client " + std::to_string(i) + " got a wrong answer";
      }
      if (!each.outcome.ok() && !each.outcome.record()) {
        return "client " + std::to_string(i) + " was not told why";
      }
    }
    return {};
  }

  [[nodiscard]] std::size_t answered() const {
    return static_cast<std::size_t>(std::ranges::count_if(
        answers, [](const answer& each) { return each.tries != 0 && each.outcome.ok(); }));
  }
  [[nodiscard]] unsigned tries() const {
    return std::accumulate(answers.begin(), answers.end(), 0U,
                           [](unsigned sum, const answer& each) { return sum + each.tries; });
  }
};

// The first thing of that kind that happens is struck.
simulation_options with(fault_point point, fault_action action, std::string engine = "") {
  simulation_options made;
  auto& entry = made.faults.emplace().entries.emplace_back();
  entry.pick.point = point;
  entry.pick.engine = std::move(engine);
  entry.action = action;
  return made;
}

TEST(inference_server, answers_all_clients_right_in_every_order) {
  rush_hour rush;
  const auto found = explore(
      asked(), std::ref(rush), [&rush](const simulation_report&) {
        return rush.answered() == clients && rush.scored == clients ? rush.complaint()
                                                                   : "somebody got no answer";
      });
  EXPECT_TRUE(passes(found));
}

// The driver polls for lost interrupts twice a second; the server does not wait for that.
TEST(inference_server, a_lost_dma_completion_costs_a_second_try) {
  rush_hour rush;
  auto options = with(fault_point::complete, fault_action::drop());
  options.faults->entries.front().pick.operation = "copy";
  const auto report = try_simulate(options, std::ref(rush));
  EXPECT_TRUE(passes(report));
  EXPECT_EQ(report.faults.fired, 1U);
  EXPECT_EQ(rush.answered(), clients);
  EXPECT_EQ(rush.tries(), clients + 1);
  EXPECT_EQ(rush.complaint(), "");
}

TEST(inference_server, an_engine_that_dies_costs_a_second_try) {
  rush_hour rush;
  const auto options = with(fault_point::execute, fault_action::kill_actor(), "compute");
  const auto report = try_simulate(options, std::ref(rush));
  EXPECT_TRUE(passes(report));
  EXPECT_EQ(report.faults.fired, 1U);
  EXPECT_EQ(rush.answered(), clients);
  EXPECT_EQ(rush.tries(), clients + 1);
  EXPECT_LT(report.elapsed, inference_server::patience); // it is told at once
}

TEST(inference_server, a_client_for_whom_there_is_no_memory_is_told_so_at_once) {
  rush_hour rush;
  auto options = with(fault_point::allocate, fault_action::refuse_allocation());
  options.faults->entries.front().pick.channel = "from memory of device 0";
  const auto report = try_simulate(options, std::ref(rush));
  EXPECT_TRUE(passes(report));
  EXPECT_EQ(rush.answered(), clients - 1);
  EXPECT_EQ(rush.tries(), clients);
  const auto refused = std::ranges::find_if(
      rush.answers, [](const answer& each) { return !each.outcome.ok(); });
  EXPECT_EQ(refused->outcome.code(), troupe::code::device_out_of_memory);
}

// Each kind of fault on everything that it can strike, one at a time.
TEST(inference_server, no_single_fault_makes_an_answer_wrong) {
  rush_hour rush;
  EXPECT_TRUE(passes(sweep({}, std::ref(rush),
                           [&rush](const simulation_report&) { return rush.complaint(); })));
}

// Another tenant of the device has one broken kernel after the other, and this one does not see it.
TEST(inference_server, a_broken_neighbour_makes_no_difference) {
  const auto one_client = [](stage& play) {
    const std::vector<float> weights(inference_server::columns, 1.0F);
    inference_server server(play.runtime(), weights);
    const auto got = server.score(batch_of(0));
    play.observe("scores", std::span<const float>(got.scores));
  };
  troupe::fault_plan broken;
  auto& entry = broken.entries.emplace_back();
  entry.pick.point = fault_point::execute;
  entry.pick.times = 0;
  entry.action = fault_action::fail_at_execution();
  const auto seen = compare_tenants({}, one_client, one_client, broken);
  EXPECT_TRUE(passes(seen));
  EXPECT_GT(seen.faults.fired, 0U);
}

} // namespace

int main(int argc, char** argv) { return troupe::testing::run_all_tests(argc, argv); }
