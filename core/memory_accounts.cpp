#include "core/memory_accounts.hpp"

#include <algorithm>

#include <gsl/gsl>

namespace troupe {

void memory_accounts::set_limit(std::uint64_t owner, std::uint64_t bytes) {
  all_[owner].limit = bytes;
}

bool memory_accounts::has_room(std::uint64_t owner, std::uint64_t size) const {
  const auto seen = of(owner);
  if (seen.limit == 0) return true;
  return seen.used <= seen.limit && size <= seen.limit - seen.used;
}

void memory_accounts::add(std::uint64_t owner, std::uint64_t size, std::uint64_t requested) {
  auto& its = all_[owner];
  its.used += size;
  its.requested += requested;
  its.high_water = std::max(its.high_water, its.used);
  ++its.blocks;
}

void memory_accounts::quarantine(std::uint64_t owner, std::uint64_t size) {
  auto& its = all_.at(owner);
  its.quarantined += size;
  Ensures(its.quarantined <= its.used);
}

void memory_accounts::leave_quarantine(std::uint64_t owner, std::uint64_t size) {
  auto& its = all_.at(owner);
  Expects(its.quarantined >= size);
  its.quarantined -= size;
}

void memory_accounts::remove(std::uint64_t owner, std::uint64_t size, std::uint64_t requested) {
  const auto at = all_.find(owner);
  Expects(at != all_.end());
  auto& its = at->second;
  Expects(its.used >= size && its.requested >= requested && its.blocks > 0);
  its.used -= size;
  its.requested -= requested;
  if (--its.blocks == 0 && its.closed) all_.erase(at);
}

void memory_accounts::close(std::uint64_t owner) {
  const auto at = all_.find(owner);
  if (at == all_.end()) return;
  at->second.closed = true;
  if (at->second.blocks == 0) all_.erase(at);
}

memory_accounts::account memory_accounts::of(std::uint64_t owner) const {
  const auto at = all_.find(owner);
  return at == all_.end() ? account{} : at->second;
}

} // namespace troupe
