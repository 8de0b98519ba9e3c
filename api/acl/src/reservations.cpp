#include "api/acl/src/reservations.hpp"

#include <bit>
#include <iterator>
#include <string>
#include <utility>

#include "api/acl/src/call.hpp"
#include "api/acl/src/for_good.hpp"
#include "api/acl/src/objects.hpp"

namespace troupe::acl {
namespace {

std::uint64_t key_of(const void* address) {
  return std::bit_cast<std::uint64_t>(address);
}

status in_no_range() {
  return bad_parameter("the address is in no reserved range");
}

}  // namespace

reservations& reservations::instance() {
  return for_good<reservations>();
}

// The range that `address` lies in. Under the guard.
reservations::entries::const_iterator reservations::around(const void* address) const {
  auto at = books_.ranges.upper_bound(key_of(address));
  if (at == books_.ranges.begin()) return books_.ranges.end();
  --at;
  return key_of(address) - at->first < at->second.range.bytes() ? at : books_.ranges.end();
}

result<void*> reservations::reserve(const device& where, std::size_t bytes,
                                    std::size_t alignment) {
  auto made = where.reserve(bytes, alignment);
  if (!made) return made.error();
  const auto& range = made.value();
  void* const address = range.address();
  const std::lock_guard lock(guard_);
  open(books_.ranges.insert_or_assign(key_of(address), entry{range, where.index(), {}}).first->second);
  return address;
}

// To all contexts of its device, as it says. Under the guard.
void reservations::open(const entry& which) const {
  for (const auto& each : books_.contexts) {
    const auto who = each.lock();
    if (!who || who->device != which.device || !who->context.health().ok()) continue;
    (void)which.range.set_access(which.access, who->context);  // it may end meanwhile
  }
}

status reservations::set_access(const void* address, std::size_t bytes,
                                const std::vector<device_access>& wanted) {
  const std::lock_guard lock(guard_);
  const auto found = around(address);
  if (found == books_.ranges.end()) return in_no_range();
  auto& known = books_.ranges.at(found->first);
  const auto offset = key_of(address) - found->first;
  const auto whole = known.range.bytes();
  if (bytes > whole - offset) {
    return bad_parameter(std::to_string(bytes) +
                         " bytes leave the reserved range that they begin in");
  }
  for (const auto& [device, access] : wanted) {
    if (device != known.device) {
      return unsupported("aclrtMemSetAccess", "addresses of device " +
                                                  std::to_string(known.device) + " for device " +
                                                  std::to_string(device));
    }
    if (access != known.access && bytes != whole) {
      return unsupported("aclrtMemSetAccess", "rights for a part of a reserved range");
    }
  }
  if (wanted.empty() || wanted.back().access == known.access) return {};
  known.access = wanted.back().access;
  open(known);
  return {};
}

status reservations::release(void* address) {
  const std::lock_guard lock(guard_);
  const auto at = books_.ranges.find(key_of(address));
  if (at == books_.ranges.end()) return bad_parameter("no reserved range begins at the address");
  if (auto s = at->second.range.release(); !s.ok()) return s;
  books_.ranges.erase(at);
  return {};
}

status reservations::map(void* address, std::size_t bytes, const physical_memory& memory) {
  if (bytes != memory.bytes()) {
    return bad_parameter("a mapping of " + std::to_string(bytes) + " bytes of memory of " +
                         std::to_string(memory.bytes()) + ", which is mapped as a whole");
  }
  const std::lock_guard lock(guard_);
  const auto found = around(address);
  if (found == books_.ranges.end()) return in_no_range();
  const auto offset = key_of(address) - found->first;
  if (auto s = found->second.range.map(offset, memory); !s.ok()) return s;
  books_.ranges.at(found->first).mapped.insert_or_assign(offset, memory);
  return {};
}

status reservations::unmap(void* address) {
  const std::lock_guard lock(guard_);
  const auto found = around(address);
  if (found == books_.ranges.end()) return in_no_range();
  const auto offset = key_of(address) - found->first;
  if (auto s = found->second.range.unmap(offset); !s.ok()) return s;
  books_.ranges.at(found->first).mapped.erase(offset);
  return {};
}

result<physical_memory> reservations::memory_at(const void* address) const {
  const std::lock_guard lock(guard_);
  const auto found = around(address);
  if (found == books_.ranges.end()) return in_no_range();
  const auto offset = key_of(address) - found->first;
  const auto& mapped = found->second.mapped;
  auto at = mapped.upper_bound(offset);
  if (at == mapped.begin() || offset - std::prev(at)->first >= std::prev(at)->second.bytes()) {
    return bad_parameter("nothing is mapped at the address");
  }
  return std::prev(at)->second;
}

reservations::books reservations::exchange(books other) {
  const std::lock_guard lock(guard_);
  return std::exchange(books_, std::move(other));
}

void reservations::welcome(const std::shared_ptr<context_object>& who) {
  const std::lock_guard lock(guard_);
  std::erase_if(books_.contexts, [](const auto& each) { return each.expired(); });
  books_.contexts.push_back(who);
  for (const auto& [address, each] : books_.ranges) {
    if (each.device != who->device) continue;
    each.range.set_access(each.access, who->context).or_throw();
  }
}

}  // namespace troupe::acl
