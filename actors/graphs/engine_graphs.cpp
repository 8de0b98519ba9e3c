#include <algorithm>

#include <gsl/gsl>

#include "actors/engine_actor.hpp"
#include "actors/graphs/graph_lanes.hpp"
#include "actors/graphs/graph_replay.hpp"
#include "actors/machine.hpp"
#include "actors/simulation/witness.hpp"
#include "actors/stream_record.hpp"
#include "actors/user_scope.hpp"

namespace troupe {
namespace {

// A replay that takes longer than this is worth a hand-over to other engines.
constexpr time_ns worth_sharing_ns = 20'000;

// The lanes of a replay as a launch of as many blocks: engines share it as they do any other.
struct lanes_payload {
  graph_lanes* lanes;

  static status invoke(void* payload, const block& b) {
    return static_cast<lanes_payload*>(payload)->lanes->run(b.stop);
  }
};

constexpr operation lanes_ops = [] {
  auto made = carried<lanes_payload>::make();
  made.invoke = &lanes_payload::invoke;
  return made;
}();

} // namespace

// Where nothing is watched and time is real, steps run ahead of the general loop, which serves what
// needs another engine, and every step of watched and simulated runs.
progress engine_actor::run_graph(stream_record& stream, command& c, status& outcome) {
  auto& replay = *c.as<graph_payload>().replay;
  const stop_view stop(stream.line()->abort_mark(), c.number);
  walking_ = &replay;
  const auto stop_walking = gsl::finally([this] { walking_ = nullptr; });
  const bool begins = replay.begin();
  if (begins && seen_ != nullptr) seen_->note(happening::begun, stream, c);
  if (begins && !watched_ && replay.plan().shareable()) {
    outcome = run_lanes(stream, c);
    return progress::ended;
  }
  while (outcome.ok() && !stop.requested()) {
    if (!watched_ && port_.kind() == engine_kind::compute) {
      const user_scope inside({user_scope::what::kernel, c.name, stream.id()});
      stream.running_name.store(c.name, std::memory_order_release);
      std::uint64_t kernels = 0;
      outcome = replay.run_ahead(stop, kernels);
      load_.count(kernels, 0);
      if (!outcome.ok()) break;
    }
    auto* step = replay.step();
    if (step == nullptr || stop.requested()) break;
    const bool calls_back = step->kind == command_kind::callback;
    const auto leg = calls_back ? command_kind::callback : command_kind::kernel;
    if (!executes(leg)) {
      c.kind = leg;
      return progress::set_aside;
    }
    step->number = c.number;
    if (const auto went = run_step(stream, *step, outcome); went != progress::ended) return went;
    if (outcome.ok()) replay.advance();
  }
  if (!outcome.ok()) outcome = replay.failure_of(outcome);
  if (seen_ != nullptr) seen_->note(happening::worked, stream, c);
  return progress::ended;
}

// Alone at first, in the plan's order: what is over before another engine comes is not worth calling
// one, and needs no counters.
status engine_actor::run_lanes(stream_record& stream, command& c) {
  auto& replay = *c.as<graph_payload>().replay;
  const auto& segments = replay.plan().segments();
  const auto count = static_cast<std::uint32_t>(segments.size());
  const stop_view stop(stream.line()->abort_mark(), c.number);
  const auto began = home_.time().now();
  const auto lasts = [&] { return home_.time().now() - began > worth_sharing_ns; };
  stream.running_name.store(c.name, std::memory_order_release);
  status outcome;
  std::uint32_t ended = 0;
  std::uint64_t kernels = 0;
  if (!replay.plan().lasts.load(std::memory_order_relaxed)) {
    const user_scope inside({user_scope::what::kernel, c.name, stream.id()});
    while (outcome.ok() && ended < count && !stop.requested() && (ended == 0 || !lasts())) {
      const auto end = std::min(count, ended + std::clamp(ended, 1U, 16U));
      outcome = replay.run_range(segments[ended].begin, segments[end - 1].end, stop,
                                 kernels);
      ended = end;
    }
  }
  if (outcome.ok() && ended < count && !stop.requested()) {
    graph_lanes lanes(replay, ended);
    command shared(command_kind::kernel, c.name, c.site());
    shared.number = c.number;
    shared.emplace<lanes_payload>(lanes_ops, lanes_payload{&lanes});
    shared.blocks = static_cast<std::uint32_t>(
        std::clamp<std::size_t>(replay.plan().width(), 1, home_.compute_threads()));
    outcome = run_kernel(stream, shared);
    kernels += lanes.kernels();
  }
  load_.count(kernels, 0);
  replay.note_length(lasts());
  return outcome;
}

} // namespace troupe
