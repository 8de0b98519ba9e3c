#include "core/exploration/channel_table.hpp"

namespace troupe {

std::uint32_t channel_table::intern(std::string_view name) {
  Expects(!name.empty());
  const auto known = ids_.find(name);
  if (known != ids_.end()) return known->second;
  const auto id = gsl::narrow<std::uint32_t>(names_.size());
  const auto added = ids_.emplace(name, id).first;
  names_.push_back(&added->first);
  return id;
}

std::optional<std::uint32_t> channel_table::find(std::string_view name) const {
  const auto known = ids_.find(name);
  if (known == ids_.end()) return std::nullopt;
  return known->second;
}

} // namespace troupe
