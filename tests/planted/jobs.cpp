#include "tests/planted/jobs.hpp"

#include <stdexcept>
#include <utility>

#include "core/stable_hash.hpp"

namespace troupe::planted {
namespace {

using testing::exploration_options;

// About how many steps these programs take.
constexpr std::uint64_t steps_usual = 60;

exploration_options options_with(std::uint64_t steps = steps_usual) {
  exploration_options made;
  made.base.expected_steps = steps;
  made.base.steps_max = 20'000;
  made.base.costs.kernels["slow"] = 1'000'000;
  made.base.costs.kernels["never"] = cost_model::never;
  made.base.runtime.devices.resize(2);
  for (auto& each : made.base.runtime.devices) each.memory_bytes = std::uint64_t{64} << 20;
  made.shrink_replays_max = 400;
  return made;
}

exploration_options one_engine() {
  auto made = options_with();
  made.base.runtime.compute_threads = 1;
  return made;
}

exploration_options full_at_once() {
  auto made = options_with();
  made.base.runtime.submit_timeout_ms = 0;
  return made;
}

exploration_options tight() {
  auto made = options_with();
  made.base.runtime.memory_budget_bytes = std::uint64_t{4} << 20;
  for (auto& each : made.base.runtime.devices) {
    each.stream_limit = 3;
    each.event_limit = 2;
  }
  return made;
}

// One fault of any kind that leaves the making of streams and the device alone and lets work end, on
// one of the first things it can strike.
fault_plan one_loss(std::uint64_t seed) {
  static const auto classes = [] {
    auto all = testing::all_fault_classes();
    std::erase_if(all, [](const testing::fault_class& each) {
      return each.point == fault_point::message || each.point == fault_point::allocate ||
             each.point == fault_point::reply ||
             each.action.kind == fault_kind::lose_device || each.action.detected ||
             (each.point == fault_point::execute &&
              each.action.kind == fault_kind::never_complete);
    });
    return all;
  }();
  stable_random random(seed);
  const auto& chosen = classes[random.below(classes.size())];
  fault_plan made;
  made.entries.emplace_back();
  made.entries.back().pick.point = chosen.point;
  made.entries.back().pick.ordinal = 1 + random.below(8);
  made.entries.back().action = chosen.action;
  return made;
}

} // namespace

void demand(bool holds, const std::string& what) {
  if (!holds) throw std::runtime_error(what);
}

const std::vector<job>& all_jobs() {
  static const std::vector<job> all{
      {"handover", handover, options_with(), nullptr},
      {"old_tickets", old_tickets, options_with(), nullptr},
      {"three_streams", three_streams, options_with(), nullptr},
      {"stamps", stamps, options_with(), nullptr},
      {"deadlines", deadlines, options_with(), nullptr},
      {"abort", aborted, options_with(), nullptr},
      {"copy_and_abort", copy_and_abort, options_with(), nullptr},
      {"work_and_abort", work_and_abort, options_with(), nullptr},
      {"stuck", stuck, options_with(), nullptr},
      {"endings", endings, options_with(), nullptr},
      {"shutdown", shutdown, options_with(), nullptr},
      {"queue", queue, full_at_once(), nullptr},
      {"priorities", priorities, one_engine(), nullptr},
      {"yielding_copy", yielding_copy, options_with(), nullptr},
      {"callbacks", callbacks, options_with(), nullptr},
      {"pool", pool_blocks, options_with(), nullptr},
      {"followed_pool", followed_pool, options_with(), nullptr},
      {"overtaking", overtaking, options_with(), nullptr},
      {"memory", memory, options_with(), nullptr},
      {"host_copy", host_copy, options_with(), nullptr},
      {"limits", limits, tight(), nullptr},
      {"failures", failures, options_with(), nullptr},
      {"late_failure", late_failure, options_with(), nullptr},
      {"stop_mode", stop_mode, options_with(), nullptr},
      {"losses", losses, options_with(), one_loss},
  };
  return all;
}

} // namespace troupe::planted
