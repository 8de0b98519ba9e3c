#include "actors/mapped_uses.hpp"

#include <string>

#include "actors/address_space.hpp"
#include "actors/machine.hpp"
#include "actors/use_table.hpp"

namespace troupe {

mapped_uses::~mapped_uses() {
  for (const auto& [space, what] : held_) space->let_go(what);
}

status mapped_uses::hold(const machine& home, std::uint64_t context, const command& c) {
  struct look {
    const machine& home;
    std::uint64_t context;
    const command& c;
    mapped_uses& into;
    status failed;
  } seen{home, context, c, *this, {}};
  const auto take = [](void* self, const access_range& range) {
    auto& to = *static_cast<look*>(self);
    if (range.bytes == 0 || !to.failed.ok()) return;
    auto* space = to.home.space_of(range.base);
    if (space == nullptr) return;
    const auto got = space->hold(to.context, range.base, range.bytes, range.mode);
    if (got) {
      to.into.held_.emplace_back(space, got.value());
    } else {
      to.failed = make_status(got.code(), std::string("'") + to.c.name +
                                              "' cannot run: " + got.error().message());
    }
  };
  if (c.op != nullptr && c.op->ranges != nullptr) c.op->ranges(c.payload(), {take, &seen});
  return seen.failed;
}

status check_mapped(const machine& home, std::uint64_t context, const command& c) {
  if (home.memory_looks() == 0) [[likely]] return {};
  if (auto s = use_table::uses().begin(home, c); !s.ok()) return s;
  return home.maps_memory() ? mapped_uses().hold(home, context, c) : status{};
}

status check_mapped(const machine& home, std::uint64_t context, const access_range& range) {
  auto* space = range.bytes == 0 || !home.maps_memory() ? nullptr : home.space_of(range.base);
  if (space == nullptr) return {};
  const auto held = space->hold(context, range.base, range.bytes, range.mode);
  if (!held) return held.error();
  space->let_go(held.value());
  return {};
}

} // namespace troupe
