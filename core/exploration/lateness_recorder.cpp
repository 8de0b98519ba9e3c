#include "core/exploration/lateness_recorder.hpp"

#include <algorithm>

#include <gsl/gsl>

namespace troupe {

void lateness_recorder::record(std::span<const choice> enabled, std::size_t chosen,
                               std::uint64_t step) {
  Expects(chosen < enabled.size());
  for (const auto& item : enabled) {
    Expects(item.arrived < step);
    if (!comes_before(item, enabled[chosen])) continue;
    if (heads_.size() <= item.channel) heads_.resize(item.channel + std::size_t{1});
    auto& head = heads_[item.channel];
    if (head.passed_over > 0 && head.item != item) late_.push_back(head);
    head.item = item;
    head.passed_over = step;
  }
}

schedule_script lateness_recorder::script(const channel_table& names) const {
  auto all = late_;
  for (const auto& head : heads_)
    if (head.passed_over > 0) all.push_back(head);
  std::sort(all.begin(), all.end(), [](const lateness& a, const lateness& b) {
    return comes_before(a.item, b.item) ||
           (!comes_before(b.item, a.item) && a.item.ordinal < b.item.ordinal);
  });
  schedule_script script;
  for (const auto& late : all) {
    const auto& item = late.item;
    script.entries.push_back(schedule_entry::late(names.name(item.channel), item.ordinal,
                                                  late.passed_over - item.arrived));
  }
  return script;
}

} // namespace troupe
