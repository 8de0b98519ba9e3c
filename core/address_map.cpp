#include "core/address_map.hpp"

#include <algorithm>
#include <iterator>
#include <optional>
#include <string>
#include <utility>

namespace troupe {
namespace {

status refused(const std::string& why) { return make_status(code::invalid_parameter, why); }

std::string place(std::uint64_t bytes, std::uint64_t at) {
  return std::to_string(bytes) + " bytes at offset " + std::to_string(at);
}

} // namespace

address_map::address_map(std::uint64_t capacity) : addresses_(capacity, granule) {}

// -- ranges -------------------------------------------------------------------

result<address_map::range> address_map::reserve(std::uint64_t bytes, std::uint64_t alignment) {
  if (bytes == 0) {
    return make_status(code::bad_argument, "a range of 0 bytes of addresses; the least is 1");
  }
  if (alignment == 0) alignment = granule;
  if ((alignment & (alignment - 1)) != 0 || alignment > alignment_max) {
    return refused("the alignment " + std::to_string(alignment) +
                   " is not a power of two up to " + std::to_string(alignment_max));
  }
  alignment = std::max(alignment, granule);
  const auto seen = addresses_.current_figures();
  const auto extra = alignment - granule; // so that an aligned start is in it wherever it begins
  const auto too_large = bytes > seen.capacity || extra > seen.capacity - bytes;
  const auto found = too_large ? std::nullopt
                               : addresses_.allocate(addresses_.size_for(bytes) + extra);
  if (!found) {
    error_record record;
    record.what = code::memory_allocation;
    record.message = "the device has no room for a range of " + std::to_string(bytes) +
                     " bytes of addresses at a multiple of " + std::to_string(alignment) +
                     ": reserved " + std::to_string(seen.used) + " of " +
                     std::to_string(seen.capacity);
    record.lacking = shortage{"device addresses", bytes, seen.used, seen.capacity};
    return status(std::move(record));
  }
  const range made{++last_id_, (found->offset + alignment - 1) / alignment * alignment,
                   addresses_.size_for(bytes)};
  ranges_.emplace(made.id, reservation{found->offset, made, false, {}});
  return made;
}

status address_map::release(std::uint64_t id, bool force, std::vector<ended>& over) {
  const auto found = find(id);
  if (!found) return found.error();
  auto& its = *found.value();
  const auto last = its.where.offset + its.where.bytes;
  if (!force) {
    for (auto at = mappings_.lower_bound(its.where.offset);
         at != mappings_.end() && at->first < last; ++at) {
      if (at->second.leaving) continue;
      return refused("the range still has memory mapped: " +
                     place(at->second.bytes, at->first - its.where.offset));
    }
  }
  its.released = true;
  for (auto at = mappings_.lower_bound(its.where.offset);
       at != mappings_.end() && at->first < last;) {
    const auto each = at++;
    each->second.leaving = true;
    if (each->second.holders == 0) end(each, over); // the range goes with the last of them
  }
  forget_if_empty(id);
  return {};
}

result<address_map::reservation*> address_map::find(std::uint64_t id) {
  const auto at = ranges_.find(id);
  if (at == ranges_.end() || at->second.released) return refused("the range has been released");
  return &at->second;
}

address_map::reservation* address_map::range_at(std::uint64_t offset) {
  for (auto& [id, each] : ranges_) {
    if (offset >= each.where.offset && offset - each.where.offset < each.where.bytes) return &each;
  }
  return nullptr;
}

bool address_map::is_empty(const reservation& r) const {
  const auto at = mappings_.lower_bound(r.where.offset);
  return at == mappings_.end() || at->first >= r.where.offset + r.where.bytes;
}

void address_map::forget_if_empty(std::uint64_t id) {
  const auto at = ranges_.find(id);
  if (at == ranges_.end() || !at->second.released || !is_empty(at->second)) return;
  (void)addresses_.free(at->second.block);
  ranges_.erase(at);
}

// -- mappings -----------------------------------------------------------------

result<std::uint64_t> address_map::map(std::uint64_t id, std::uint64_t at, std::uint64_t bytes,
                                       std::shared_ptr<void> memory) {
  const auto found = find(id);
  if (!found) return found.error();
  const auto& where = found.value()->where;
  if (at % granule != 0) {
    return refused("the offset " + std::to_string(at) + " is not a multiple of " +
                   std::to_string(granule));
  }
  if (at >= where.bytes || bytes > where.bytes - at) {
    return refused("a mapping of " + place(bytes, at) + " leaves the range of " +
                   std::to_string(where.bytes) + " bytes");
  }
  const auto offset = where.offset + at;
  auto next = mappings_.lower_bound(offset);
  if (next != mappings_.begin()) {
    const auto before = std::prev(next);
    if (before->first + before->second.bytes > offset) next = before;
  }
  if (next != mappings_.end() && next->first < offset + bytes) {
    return refused("a mapping of " + place(bytes, at) + " meets one of " +
                   place(next->second.bytes, next->first - where.offset) +
                   (next->second.leaving ? " that a task still uses" : ""));
  }
  mappings_.emplace(offset, mapping{bytes, id, std::move(memory), 0, false});
  mapped_bytes_ += bytes;
  return offset;
}

status address_map::unmap(std::uint64_t id, std::uint64_t at, std::vector<ended>& over) {
  const auto found = find(id);
  if (!found) return found.error();
  const auto& where = found.value()->where;
  const auto its = at < where.bytes ? mappings_.find(where.offset + at) : mappings_.end();
  if (its == mappings_.end() || its->second.leaving) {
    return refused("no mapping begins at offset " + std::to_string(at) + " of the range of " +
                   std::to_string(where.bytes) + " bytes");
  }
  its->second.leaving = true;
  if (its->second.holders == 0) end(its, over);
  return {};
}

void address_map::end(mapping_table::iterator at, std::vector<ended>& over) {
  over.push_back({at->first, at->second.bytes, std::move(at->second.memory)});
  mapped_bytes_ -= at->second.bytes;
  mappings_.erase(at);
}

// -- access -------------------------------------------------------------------

status address_map::set_access(std::uint64_t id, std::uint64_t context, mapped_access access) {
  const auto found = find(id);
  if (!found) return found.error();
  auto& rights = found.value()->rights;
  if (access == mapped_access::none) {
    rights.erase(context);
  } else {
    rights.insert_or_assign(context, access);
  }
  return {};
}

result<address_map::held> address_map::hold(std::uint64_t context, std::uint64_t offset,
                                            std::uint64_t bytes, access_mode mode) {
  const auto* its = range_at(offset);
  if (its == nullptr || its->released) {
    return refused("device addresses that are not reserved are used: " + place(bytes, offset));
  }
  const auto at = offset - its->where.offset;
  const auto here = place(bytes, at) + " of a range of device addresses";
  if (bytes > its->where.bytes - at) {
    return refused(here + " leave the " + std::to_string(its->where.bytes) + " bytes of it");
  }
  const auto right = its->rights.find(context);
  const bool may = right != its->rights.end() &&
                   (mode == access_mode::read || right->second == mapped_access::read_write);
  if (!may) {
    return refused(here + " are not for context " + std::to_string(context) + " to " +
                   (mode == access_mode::read ? "read" : "write"));
  }
  auto first = mappings_.upper_bound(offset);
  if (first != mappings_.begin()) --first;
  held made{offset, 0};
  for (auto each = first; made.offset + made.bytes < offset + bytes; ++each) {
    const auto next = made.offset + made.bytes;
    const bool covers = each != mappings_.end() && !each->second.leaving && each->first <= next &&
                        next - each->first < each->second.bytes;
    if (!covers) {
      return refused(here + " have nothing mapped at offset " +
                     std::to_string(next - its->where.offset));
    }
    if (each == first) made.offset = each->first;
    made.bytes += each->second.bytes;
  }
  for (auto each = first; each != mappings_.end() && each->first < made.offset + made.bytes;
       ++each) {
    ++each->second.holders;
  }
  return made;
}

void address_map::let_go(const held& what, std::vector<ended>& over) {
  for (auto at = mappings_.find(what.offset);
       at != mappings_.end() && at->first < what.offset + what.bytes;) {
    const auto each = at++;
    const auto its = each->second.range;
    if (--each->second.holders != 0 || !each->second.leaving) continue;
    end(each, over);
    forget_if_empty(its);
  }
}

} // namespace troupe
