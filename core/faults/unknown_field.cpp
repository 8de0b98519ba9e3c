#include <algorithm>
#include <cstddef>
#include <numeric>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "core/faults/fault_rows.hpp"

namespace troupe::fault_rows {
namespace {

using json = nlohmann::json;

// Letters to insert, delete or replace until `a` is `b`.
std::size_t edits_between(std::string_view a, std::string_view b) {
  std::vector<std::size_t> best(b.size() + 1);
  std::iota(best.begin(), best.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = std::exchange(best[0], i + 1);
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = best[j + 1];
      best[j + 1] = std::min({replaced, best[j] + 1, diagonal + 1});
    }
  }
  return best.back();
}

struct candidate {
  std::size_t distance;
  std::string_view name;
};

template <class Part>
void add_candidates(std::vector<candidate>& all, std::string_view key, bool at_home) {
  for (const auto& each : rows_of(static_cast<const Part*>(nullptr))) {
    const bool seen = std::ranges::any_of(all, [&](const auto& c) {
      return c.name == each.rule.name;
    });
    // A name of another object only wins when it is strictly nearer: "stream" beside "pick".
    const std::size_t distance = 2 * edits_between(key, key_of(each.rule)) + (at_home ? 0 : 1);
    if (!seen) all.push_back({distance, each.rule.name});
  }
}

} // namespace

template <class Part>
status unknown_field(std::string_view key, const json& value) {
  constexpr std::size_t key_most = 64; // bounds the work that a foreign name can ask for
  constexpr std::size_t names_most = 3;
  const auto looked_up = key.substr(0, key_most);
  std::vector<candidate> all;
  add_candidates<Part>(all, looked_up, true);
  add_candidates<fault_plan>(all, looked_up, false);
  add_candidates<fault_entry>(all, looked_up, false);
  add_candidates<fault_pick>(all, looked_up, false);
  add_candidates<fault_action>(all, looked_up, false);
  std::ranges::stable_sort(all, {}, &candidate::distance);
  std::vector<std::string_view> nearest;
  for (std::size_t i = 0; i < names_most; ++i) nearest.push_back(all[i].name);
  const std::string_view home = rows_of(static_cast<const Part*>(nullptr))[0].rule.name;
  const auto dot = home.find('.');
  const std::string prefix(dot == home.npos ? "" : home.substr(0, dot + 1));
  const std::string shown = show_json(json(std::string(key)));
  return make_status(code::invalid_parameter,
                     prefix + shown.substr(1, shown.size() - 2) + ": " + show_json(value) +
                         " is given for an unknown field; the nearest known are " +
                         listed(nearest));
}

template status unknown_field<fault_plan>(std::string_view, const json&);
template status unknown_field<fault_entry>(std::string_view, const json&);
template status unknown_field<fault_pick>(std::string_view, const json&);
template status unknown_field<fault_action>(std::string_view, const json&);

} // namespace troupe::fault_rows
