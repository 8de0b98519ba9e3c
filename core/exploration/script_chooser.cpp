#include "core/exploration/script_chooser.hpp"

#include <algorithm>

namespace troupe {

script_chooser::script_chooser(const schedule_script& script,
                               gsl::not_null<const channel_table*> names)
    : names_(names) {
  for (const auto& entry : script.entries)
    if (entry.is_delay()) by_name_[entry.channel][entry.ordinal].steps = entry.delay;
}

std::uint64_t script_chooser::delay_of(const choice& item) {
  Expects(item.channel < names_->size());
  // Channels are looked up by name once each: a step must not cost a search among texts.
  while (by_channel_.size() <= item.channel) {
    const auto id = gsl::narrow_cast<std::uint32_t>(by_channel_.size());
    const auto found = by_name_.find(names_->name(id));
    by_channel_.push_back(found == by_name_.end() ? nullptr : &found->second);
  }
  auto* known = by_channel_[item.channel];
  if (known == nullptr) return 0;
  const auto delay = known->find(item.ordinal);
  if (delay == known->end()) return 0;
  delay->second.met = true;
  return delay->second.steps;
}

std::vector<std::string> script_chooser::unmet() const {
  std::vector<std::string> lines;
  for (const auto& [channel, late] : by_name_) {
    for (const auto& [ordinal, delay] : late) {
      if (delay.met) continue;
      lines.push_back(to_string({{schedule_entry::late(channel, ordinal, delay.steps)}}));
    }
  }
  return lines;
}

std::size_t script_chooser::choose(std::span<const choice> enabled, std::uint64_t step) {
  Expects(!enabled.empty());
  std::size_t best = 0;
  std::uint64_t best_left = 0;
  for (std::size_t i = 0; i < enabled.size(); ++i) {
    const auto& item = enabled[i];
    Expects(item.arrived < step);
    const std::uint64_t passed = step - item.arrived - 1;
    const std::uint64_t delay = delay_of(item);
    const std::uint64_t left = delay > passed ? delay - passed : 0; // 0: may be chosen
    const bool wins = left != best_left ? left < best_left : comes_before(item, enabled[best]);
    if (i > 0 && !wins) continue;
    best = i;
    best_left = left;
  }
  return best;
}

} // namespace troupe
