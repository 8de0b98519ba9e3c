#include "actors/graphs/graph_lanes.hpp"

#include <algorithm>

#include <gsl/gsl>

#include "actors/scheduling/relax.hpp"

namespace troupe {
namespace {

// Segments taken at once at most: few enough that the others find some as well.
constexpr std::uint32_t taken_at_once_max = 8;

// Looks of a lane for segments that the others make ready before it goes: a few microseconds.
constexpr unsigned looks_max = 256;

} // namespace

graph_lanes::graph_lanes(graph_replay& replay, std::uint32_t ended)
    : replay_(replay), segments_(replay.plan().segments()), needs_(segments_.size()),
      ready_(segments_.size()), left_(gsl::narrow<std::uint32_t>(segments_.size()) - ended) {
  // Nobody else is here yet.
  for (std::uint32_t i = 0; i < segments_.size(); ++i) {
    needs_[i].store(segments_[i].needs, std::memory_order_relaxed);
    ready_[i].store(none, std::memory_order_relaxed);
  }
  for (std::uint32_t i = 0; i < ended; ++i) {
    for (const auto each : segments_[i].next) needs_[each].fetch_sub(1, std::memory_order_relaxed);
  }
  std::uint32_t ready = 0;
  for (auto i = ended; i < segments_.size(); ++i) {
    if (needs_[i].load(std::memory_order_relaxed) != 0) continue;
    ready_[ready++].store(i, std::memory_order_relaxed);
  }
  pushed_.store(ready, std::memory_order_release);
}

void graph_lanes::push(std::uint32_t segment) noexcept {
  const auto place = pushed_.fetch_add(1, std::memory_order_relaxed);
  ready_[place].store(segment, std::memory_order_release);
}

void graph_lanes::settle(hand& mine) noexcept {
  if (mine.done != 0) left_.fetch_sub(mine.done, std::memory_order_acq_rel);
  mine.done = 0;
}

// A place that was taken before its segment is written is written by a lane that is about to.
std::uint32_t graph_lanes::take(hand& mine) {
  for (unsigned looks = 0; mine.at == mine.end; ++looks) {
    auto from = taken_.load(std::memory_order_relaxed);
    const auto to = pushed_.load(std::memory_order_acquire);
    if (from < to) {
      const auto count = std::clamp<std::uint32_t>((to - from) / 4, 1, taken_at_once_max);
      if (!taken_.compare_exchange_weak(from, from + count, std::memory_order_relaxed)) continue;
      mine.at = from;
      mine.end = from + count;
      break;
    }
    settle(mine);
    if (!unfinished() || looks >= looks_max) return none;
    relax();
  }
  auto& place = ready_[mine.at++];
  auto segment = place.load(std::memory_order_acquire);
  for (; segment == none; segment = place.load(std::memory_order_acquire)) relax();
  return segment;
}

// What has become ready by the end of `segment`: one is the caller's, the rest for all.
std::uint32_t graph_lanes::follow(std::uint32_t segment) noexcept {
  auto mine = none;
  for (const auto each : segments_[segment].next) {
    const bool only = segments_[each].needs == 1;
    if (!only && needs_[each].fetch_sub(1, std::memory_order_acq_rel) != 1) continue;
    if (mine != none) push(mine);
    mine = each;
  }
  return mine;
}

status graph_lanes::run_segment(std::uint32_t segment, const stop_view& stop,
                                std::uint64_t& kernels) {
  return replay_.run_range(segments_[segment].begin, segments_[segment].end, stop, kernels);
}

status graph_lanes::run(const stop_view& stop) {
  hand mine;
  std::uint64_t kernels = 0;
  const auto add_up = gsl::finally([&] { kernels_.fetch_add(kernels, std::memory_order_relaxed); });
  for (auto at = take(mine); at != none;) {
    if (stop.requested() || failed_.load(std::memory_order_relaxed)) break;
    if (auto s = run_segment(at, stop, kernels); !s.ok()) {
      failed_.store(true, std::memory_order_relaxed);
      return s;
    }
    if (stop.requested()) break;
    ++mine.done;
    at = follow(at);
    if (at == none) at = take(mine);
  }
  settle(mine);
  return {};
}

} // namespace troupe
