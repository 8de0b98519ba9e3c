#include "core/exploration/shrink.hpp"

#include <algorithm>
#include <cstddef>
#include <set>
#include <string>
#include <utility>

#include <gsl/gsl>

namespace troupe {
namespace {

using predicate = std::function<bool(const schedule_script&)>;

class shrinker {
public:
  shrinker(schedule_script script, const predicate& fails, shrink_limits limits)
      : script_(std::move(script)), fails_(fails), limits_(limits) {}

  shrink_result run() {
    const bool reproduced = still_fails(script_);
    if (reproduced) {
      bool smaller = true;
      while (smaller && !out_of_replays_) {
        smaller = delete_entries();
        // Shorter delays may make an entry needless, so deletion gets another go.
        smaller = shorten_delays() || smaller;
      }
    }
    return {std::move(script_), replays_, reproduced, reproduced && !out_of_replays_};
  }

private:
  // Passing scripts come up again in the last, fruitless round; none is replayed twice. A failing
  // one becomes the script at once and everything after is smaller, so only passes are kept.
  bool still_fails(const schedule_script& candidate) {
    auto line = to_string(candidate);
    if (passed_.count(line) > 0) return false;
    if (replays_ >= limits_.replays_max) {
      out_of_replays_ = true;
      return false;
    }
    ++replays_;
    if (fails_(candidate)) return true;
    passed_.insert(std::move(line));
    return false;
  }

  bool take_if_failing(schedule_script candidate) {
    if (!still_fails(candidate)) return false;
    script_ = std::move(candidate);
    return true;
  }

  // Whether anything could go. Begins with the whole: a failure that needs no script at all, or
  // one half of it, shows in a replay or two.
  bool delete_entries() {
    bool any = false;
    for (std::size_t width = script_.entries.size(); width > 0; width /= 2) {
      std::size_t at = 0;
      while (at < script_.entries.size()) {
        auto candidate = script_;
        auto& entries = candidate.entries;
        const auto begin = entries.begin() + gsl::narrow_cast<std::ptrdiff_t>(at);
        const auto count = std::min(width, entries.size() - at);
        entries.erase(begin, begin + gsl::narrow_cast<std::ptrdiff_t>(count));
        if (take_if_failing(std::move(candidate)))
          any = true;
        else
          at += width;
      }
    }
    return any;
  }

  bool shorten_delays() {
    bool any = false;
    for (std::size_t i = 0; i < script_.entries.size(); ++i)
      if (shorten(i)) any = true;
    return any;
  }

  // Halves the delay while that fails, then halves the gap to the longest delay that is known to
  // be too short. No delay at all is one: deleting the entry was tried before. A fault's delay is 0
  // and stays so.
  bool shorten(std::size_t i) {
    const std::uint64_t before = script_.entries[i].delay;
    std::uint64_t too_short = 0;
    while (script_.entries[i].delay - too_short > 1) {
      const std::uint64_t half = too_short + (script_.entries[i].delay - too_short) / 2;
      auto candidate = script_;
      candidate.entries[i].delay = half;
      if (!take_if_failing(std::move(candidate))) too_short = half;
    }
    return script_.entries[i].delay < before;
  }

  schedule_script script_;
  const predicate& fails_;
  shrink_limits limits_;
  std::uint64_t replays_ = 0;
  bool out_of_replays_ = false;
  std::set<std::string> passed_;
};

} // namespace

shrink_result shrink(schedule_script script, const predicate& fails, shrink_limits limits) {
  Expects(fails != nullptr);
  return shrinker(std::move(script), fails, limits).run();
}

} // namespace troupe
