#include "core/faults/fault_site.hpp"

#include <array>

namespace troupe {
namespace {

constexpr std::array<std::string_view, fault_point_count> point_names{
    "message", "submit",   "handoff", "execute", "complete",
    "notice",  "allocate", "reply",   "timer",   "heartbeat"};

constexpr std::array<std::string_view, 5> engine_names{"compute", "dma_h2d", "dma_d2h", "dma_d2d",
                                                       "callback"};

std::string owned(const char* text) { return text == nullptr ? std::string() : std::string(text); }

// Microseconds with three places, made of whole numbers: no rounding, the same text everywhere.
std::string show_time(std::int64_t ns) {
  const std::int64_t rest = ns % 1000;
  const std::string places = std::to_string(rest < 0 ? -rest : rest);
  const std::string sign = ns < 0 && ns > -1000 ? "-" : "";
  return sign + std::to_string(ns / 1000) + "." + std::string(3 - places.size(), '0') + places +
         " us";
}

} // namespace

gsl::span<const std::string_view> fault_point_names() noexcept { return point_names; }

gsl::span<const std::string_view> fault_engine_names() noexcept { return engine_names; }

std::string_view to_string(fault_point point) noexcept {
  const auto index = static_cast<std::size_t>(point);
  return index < point_names.size() ? point_names[index] : "unnamed_point";
}

std::string points_in(fault_point_set set) {
  if (set == all_fault_points) return "all";
  std::string list;
  for (std::size_t i = 0; i < fault_point_count; ++i) {
    if (!contains(set, static_cast<fault_point>(i))) continue;
    if (!list.empty()) list += ", ";
    list += point_names[i];
  }
  return list;
}

fault_victim fault_victim::of(const fault_site& site) {
  return {{site.point, site.device, site.context, site.stream, owned(site.engine),
           owned(site.message), owned(site.operation), std::string(site.channel), site.ordinal},
          site.now_ns,
          site.bytes};
}

std::string describe(const fault_victim& victim) {
  std::string text(to_string(victim.point));
  const auto add_text = [&text](std::string_view label, const std::string& value) {
    if (!value.empty()) text += std::string(label) + value + "'";
  };
  const auto add_number = [&text](std::string_view label,
                                  const std::optional<std::uint64_t>& value) {
    if (value) text += std::string(label) + std::to_string(*value);
  };
  add_text(" of operation '", victim.operation);
  add_text(", message '", victim.message);
  add_text(", engine '", victim.engine);
  add_number(", device ", victim.device);
  add_number(", context ", victim.context);
  add_number(", stream ", victim.stream);
  if (victim.bytes != 0) add_number(", bytes ", victim.bytes);
  add_text(", channel '", victim.channel);
  add_number(" no. ", victim.ordinal);
  return text + ", at " + show_time(victim.now_ns);
}

} // namespace troupe
