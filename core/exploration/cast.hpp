#pragma once

#include <span>
#include <string_view>
#include <vector>

namespace troupe {

/// One kind of actor, as coverage sees it: the states it tells apart and the messages it
/// understands.
struct cast_role {
  std::string_view name;
  std::vector<std::string_view> states;
  std::vector<std::string_view> messages;
};

/// All of them. What can be seen is known beforehand, so that what was not seen can be listed; a
/// test compares it with the actors' sources.
[[nodiscard]] std::span<const cast_role> cast();

} // namespace troupe
