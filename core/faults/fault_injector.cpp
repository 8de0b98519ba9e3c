#include "core/faults/fault_injector.hpp"

#include <algorithm>
#include <limits>
#include <set>
#include <string_view>
#include <utility>

#include "core/stable_hash.hpp"

namespace troupe {
namespace {

bool fits_number(const std::optional<std::uint64_t>& wanted,
                 const std::optional<std::uint64_t>& given) {
  return !wanted || wanted == given;
}

bool fits_text(const std::string& wanted, std::string_view given) {
  return wanted.empty() || wanted == given;
}

std::string_view view(const char* text) {
  return text == nullptr ? std::string_view() : std::string_view(text);
}

fault_plan checked(fault_plan plan) {
  Expects(plan.validate().ok());
  return plan;
}

} // namespace

fault_injector::fault_injector(fault_plan plan)
    : plan_(checked(std::move(plan))), tallies_(plan_.entries.size()) {
  for (std::size_t i = 0; i < plan_.entries.size(); ++i) {
    const auto& pick = plan_.entries[i].pick;
    const auto until_ns =
        pick.until_ms > 0 ? to_ns(pick.until_ms) : std::numeric_limits<std::int64_t>::max();
    by_point_[static_cast<std::size_t>(pick.point)].push_back({i, to_ns(pick.from_ms), until_ns});
  }
}

std::optional<fault_activation> fault_injector::decide(const fault_site& site) {
  const auto point = static_cast<std::size_t>(site.point);
  Expects(point < fault_point_count);
  Expects(!site.channel.empty() && site.ordinal > 0);
  const auto& entries = by_point_[point];
  const auto fitting = [&](const armed_entry& armed) { return fits(armed, site); };
  auto next = std::find_if(entries.begin(), entries.end(), fitting);
  if (next == entries.end()) return std::nullopt;

  const std::lock_guard lock(guard_);
  std::optional<std::size_t> winner;
  for (; next != entries.end(); next = std::find_if(next + 1, entries.end(), fitting)) {
    auto& count = tallies_[next->index];
    ++count.matched; // by the losers too, see `fault_pick`
    if (!winner && fires(*next, site, count)) winner = next->index;
  }
  if (!winner) return std::nullopt;
  return activate(*winner, site);
}

bool fault_injector::fits(const armed_entry& armed, const fault_site& site) const {
  const auto& pick = plan_.entries[armed.index].pick;
  return site.now_ns >= armed.from_ns && site.now_ns < armed.until_ns &&
         fits_number(pick.device, site.device) && fits_number(pick.context, site.context) &&
         fits_number(pick.stream, site.stream) && fits_text(pick.engine, view(site.engine)) &&
         fits_text(pick.message, view(site.message)) &&
         fits_text(pick.operation, view(site.operation)) && fits_text(pick.channel, site.channel);
}

bool fault_injector::fires(const armed_entry& armed, const fault_site& site,
                           const tally& count) const {
  const auto& pick = plan_.entries[armed.index].pick;
  if (pick.ordinal != 0) {
    const auto number = pick.channel.empty() ? count.matched : site.ordinal;
    if (number != pick.ordinal) return false;
  }
  if (pick.times != 0 && count.fired >= pick.times) return false;
  return to_unit(seed_of(armed.index, site)) < pick.chance;
}

std::uint64_t fault_injector::seed_of(std::size_t index, const fault_site& site) const {
  return stable_hash(plan_.seed)
      .add(std::uint64_t{index})
      .add(site.channel)
      .add(site.ordinal)
      .value();
}

fault_activation fault_injector::activate(std::size_t index, const fault_site& site) {
  ++tallies_[index].fired;
  fault_activation activation{++fired_,
                              index,
                              plan_.entry_name(index),
                              plan_.entries[index].action,
                              fault_victim::of(site),
                              seed_of(index, site)};
  if (activations_.size() < activations_max) activations_.push_back(activation);
  return activation;
}

fault_report fault_injector::report() const {
  fault_report report;
  report.plan = plan_.name;
  report.seed = plan_.seed;
  const std::lock_guard lock(guard_);
  for (std::size_t i = 0; i < plan_.entries.size(); ++i) {
    const auto& entry = plan_.entries[i];
    report.entries.push_back({plan_.entry_name(i), entry.pick.point, entry.action,
                              tallies_[i].matched, tallies_[i].fired});
  }
  report.activations = activations_;
  report.fired = fired_;
  return report;
}

std::size_t corrupt_bytes(gsl::span<std::byte> bytes, const fault_activation& activation) {
  Expects(activation.action.kind == fault_kind::corrupt);
  const std::size_t count = std::min<std::size_t>(activation.action.bytes, bytes.size());
  // Different bytes, as a bit that flips twice is no fault: Floyd's draw without repetition, whose
  // work depends on `count` alone, not on the size of a buffer of many megabytes.
  stable_random draw(activation.seed);
  std::set<std::size_t> places;
  for (std::size_t last = bytes.size() - count; last < bytes.size(); ++last) {
    const auto place = static_cast<std::size_t>(draw.below(last + 1));
    if (!places.insert(place).second) places.insert(last);
  }
  for (const auto place : places)
    bytes[place] ^= static_cast<std::byte>(1U << static_cast<unsigned>(draw.below(8)));
  Ensures(places.size() == count);
  return count;
}

} // namespace troupe
