// The part of a memory's books that is about owners: who has how much, and what they keep no
// more of than an address.

#include <algorithm>

#include "actors/memory_record.hpp"

namespace troupe {

// -- figures ------------------------------------------------------------------

memory_info memory_record::info() const {
  const std::shared_lock lock(guard_);
  const auto figures = heap_.current_figures();
  memory_info seen;
  seen.total = arena_.bytes();
  seen.used = figures.used;
  seen.free = seen.total - seen.used;
  seen.largest_hole = figures.largest_hole;
  seen.high_water = figures.used_high_water;
  seen.quarantined = quarantined_bytes_;
  seen.backed = backing_.backed_bytes();
  return seen;
}

bool memory_record::has_quarantine() const {
  const std::shared_lock lock(guard_);
  return !quarantine_.empty();
}

// They are asked without the lock: they have locks of their own.
std::uint64_t memory_record::cached_bytes(std::optional<std::uint64_t> owner) const {
  std::vector<std::shared_ptr<subdivision>> found;
  {
    const std::shared_lock lock(guard_);
    for (const auto& each : dividers_) {
      if (owner && each.owner != *owner) continue;
      if (auto who = each.who.lock()) found.push_back(std::move(who));
    }
  }
  std::uint64_t sum = 0;
  for (const auto& each : found) sum += each->cached_bytes();
  return sum;
}

context_memory memory_record::info_of(std::uint64_t owner) const {
  context_memory seen;
  seen.cached = cached_bytes(owner);
  const std::shared_lock lock(guard_);
  const auto its = accounts_.of(owner);
  seen.used = its.used;
  seen.requested = its.requested;
  seen.quarantined = its.quarantined;
  seen.high_water = its.high_water;
  seen.blocks = its.blocks;
  seen.limit = its.limit;
  return seen;
}

void memory_record::add_divider(std::uint64_t offset, const std::weak_ptr<subdivision>& by) {
  const auto block = heap_.find(offset);
  if (!block) return;
  std::erase_if(dividers_, [](const divider& each) { return each.who.expired(); });
  const auto added = by.lock();
  const bool known = std::any_of(dividers_.begin(), dividers_.end(), [&](const divider& each) {
    return each.who.lock() == added;
  });
  if (!known) dividers_.push_back({block->owner, by});
}

// -- limits -------------------------------------------------------------------

void memory_record::limit(std::uint64_t owner, std::uint64_t bytes) {
  const std::lock_guard lock(guard_);
  accounts_.set_limit(owner, bytes);
}

// Blocks are taken by the memory actor alone: what has room here has it when it is taken.
status memory_record::check_limit(std::uint64_t bytes, std::uint64_t owner, page_kind pages) {
  const std::lock_guard lock(guard_);
  if (bytes > heap_.capacity()) return {}; // refused for want of room
  const auto spare = checker_ && owner != 0 ? block_watch::guard_bytes : 0;
  auto size = heap_.size_for(bytes + spare);
  if (pages != page_kind::small) {
    size = (size + huge_page_bytes - 1) / huge_page_bytes * huge_page_bytes;
  }
  if (accounts_.has_room(owner, size)) return {};
  end_rest();
  sweep_locked(quarantine_.size());
  if (accounts_.has_room(owner, size)) return {};
  const auto its = accounts_.of(owner);
  error_record record;
  record.what = code::memory_allocation;
  record.context = owner;
  record.message = "context " + std::to_string(owner) + " may use " + std::to_string(its.limit) +
                   " bytes of the " + name_ + " and uses " + std::to_string(its.used) +
                   ": no room for " + std::to_string(bytes) + " bytes, which occupy " +
                   std::to_string(size);
  record.lacking = shortage{"context memory", size, its.used, its.limit};
  return status(std::move(record));
}

// -- blocks by address --------------------------------------------------------

void memory_record::note_raw(const std::byte* data, std::uint64_t owner, call_site site) {
  const std::lock_guard lock(guard_);
  const auto found = heap_.find(offset_of(data));
  if (!found || found->retired || found->owner != owner) return; // its context has just ended
  raw_.insert_or_assign(offset_of(data), site);
}

result<std::uint64_t> memory_record::claim_raw(const void* address) {
  const auto refuse = [](const std::string& why) {
    return make_status(code::invalid_parameter, "the address " + why);
  };
  if (!arena_.contains(address)) return refuse("is not in the " + name_);
  const auto offset = offset_of(address);
  const auto where = "at offset " + std::to_string(offset) + " of the " + name_;
  const std::lock_guard lock(guard_);
  const auto found = heap_.find(offset);
  if (!found || found->retired) {
    return refuse(where + (heap_.handed_out(offset) ? " is not in use: freed already?"
                                                    : " was never allocated"));
  }
  if (found->offset != offset) {
    return refuse(where + " is " + std::to_string(offset - found->offset) +
                  " bytes into a block, not its start");
  }
  if (raw_.erase(offset) == 0) return refuse(where + " is of a buffer or pool, which frees it");
  heap_.retire(offset);
  begin_era();
  return found->owner;
}

std::vector<memory_record::raw_block> memory_record::raw_blocks_of(std::uint64_t owner) const {
  std::vector<raw_block> found;
  const std::shared_lock lock(guard_);
  for (const auto& each : heap_.blocks_of(owner)) {
    const auto at = raw_.find(each.offset);
    if (at != raw_.end()) found.push_back({each.requested, at->second});
  }
  return found;
}

} // namespace troupe
