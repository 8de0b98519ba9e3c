#include "api/acl/src/reservations.hpp"

#include <bit>
#include <iterator>
#include <string>
#include <utility>

#include "api/acl/src/call.hpp"
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
  static auto* const made = new reservations;
  return *made;
}

// The range that `address` lies in. Under the guard.
reservations::entries::const_iterator reservations::around(const void* address) const {
  auto at = all_.upper_bound(key_of(address));
  if (at == all_.begin()) return all_.end();
  --at;
  return key_of(address) - at->first < at->second.range.bytes() ? at : all_.end();
}

result<void*> reservations::reserve(const device& where, std::size_t bytes,
                                    std::size_t alignment) {
  auto made = where.reserve(bytes, alignment);
  if (!made) return made.error();
  const auto& range = made.value();
  void* const address = range.address();
  const std::lock_guard lock(guard_);
  for (const auto& each : contexts_) {
    const auto who = each.lock();
    if (!who || who->device != where.index() || !who->context.health().ok()) continue;
    (void)range.set_access(mapped_access::read_write, who->context);  // it may end meanwhile
  }
  all_.insert_or_assign(key_of(address), entry{range, where.index(), {}});
  return address;
}

status reservations::release(void* address) {
  const std::lock_guard lock(guard_);
  const auto at = all_.find(key_of(address));
  if (at == all_.end()) return bad_parameter("no reserved range begins at the address");
  if (auto s = at->second.range.release(); !s.ok()) return s;
  all_.erase(at);
  return {};
}

status reservations::map(void* address, std::size_t bytes, const physical_memory& memory) {
  if (bytes != memory.bytes()) {
    return bad_parameter("a mapping of " + std::to_string(bytes) + " bytes of memory of " +
                         std::to_string(memory.bytes()) + ", which is mapped as a whole");
  }
  const std::lock_guard lock(guard_);
  const auto found = around(address);
  if (found == all_.end()) return in_no_range();
  const auto offset = key_of(address) - found->first;
  if (auto s = found->second.range.map(offset, memory); !s.ok()) return s;
  all_.at(found->first).mapped.insert_or_assign(offset, memory);
  return {};
}

status reservations::unmap(void* address) {
  const std::lock_guard lock(guard_);
  const auto found = around(address);
  if (found == all_.end()) return in_no_range();
  const auto offset = key_of(address) - found->first;
  if (auto s = found->second.range.unmap(offset); !s.ok()) return s;
  all_.at(found->first).mapped.erase(offset);
  return {};
}

result<physical_memory> reservations::memory_at(const void* address) const {
  const std::lock_guard lock(guard_);
  const auto found = around(address);
  if (found == all_.end()) return in_no_range();
  const auto offset = key_of(address) - found->first;
  const auto& mapped = found->second.mapped;
  auto at = mapped.upper_bound(offset);
  if (at == mapped.begin() || offset - std::prev(at)->first >= std::prev(at)->second.bytes()) {
    return bad_parameter("nothing is mapped at the address");
  }
  return std::prev(at)->second;
}

void reservations::welcome(const std::shared_ptr<context_object>& who) {
  const std::lock_guard lock(guard_);
  std::erase_if(contexts_, [](const auto& each) { return each.expired(); });
  contexts_.push_back(who);
  for (const auto& [address, each] : all_) {
    if (each.device != who->device) continue;
    each.range.set_access(mapped_access::read_write, who->context).or_throw();
  }
}

}  // namespace troupe::acl
