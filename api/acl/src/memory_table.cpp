#include "api/acl/src/memory_table.hpp"

#include <bit>

#include "api/acl/src/call.hpp"

namespace troupe::acl {
namespace {

std::uint64_t key_of(const void* address) {
  return std::bit_cast<std::uint64_t>(address);
}

}  // namespace

memory_table& memory_table::instance() {
  static auto* const made = new memory_table;
  return *made;
}

// A block whose context has ended may still be here when its address is handed out again.
void* memory_table::keep(buffer<std::byte> made, std::uint32_t device) {
  void* const address = made.data();
  const std::lock_guard lock(guard_);
  blocks_.insert_or_assign(key_of(address), entry{std::move(made), device});
  return address;
}

void* memory_table::keep(host_buffer<std::byte> made) {
  void* const address = made.data();
  const std::lock_guard lock(guard_);
  blocks_.insert_or_assign(key_of(address), entry{std::move(made), 0});
  return address;
}

status memory_table::free(void* address, kind what) {
  entry leaving;
  {
    const std::lock_guard lock(guard_);
    const auto at = blocks_.find(key_of(address));
    if (at == blocks_.end() || at->second.memory.index() != static_cast<std::size_t>(what)) {
      return bad_parameter(what == kind::device
                               ? "the address begins no block of device memory in use"
                               : "the address begins no block of host memory in use");
    }
    leaving = std::move(at->second);
    blocks_.erase(at);
  }
  if (what == kind::host) return {};
  auto& block = std::get<0>(leaving.memory);
  const auto device = leaving.device;
  auto outcome = block.free();
  if (!outcome.ok() && block.data() != nullptr) (void)keep(std::move(block), device);
  return outcome;
}

std::optional<memory_table::place> memory_table::find(const void* address) const {
  const std::lock_guard lock(guard_);
  auto at = blocks_.upper_bound(key_of(address));
  if (at == blocks_.begin()) return std::nullopt;
  --at;
  const auto offset = key_of(address) - at->first;
  const auto& found = at->second;
  if (const auto* device = std::get_if<0>(&found.memory)) {
    if (offset >= device->size()) return std::nullopt;
    return place{kind::device, found.device, device->data(), device->size(), device->context_id()};
  }
  const auto& host = std::get<1>(found.memory);
  if (offset >= host.size()) return std::nullopt;
  return place{kind::host, 0, host.data(), host.size(), 0};
}

}  // namespace troupe::acl
