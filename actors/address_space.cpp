#include "actors/address_space.hpp"

#include <cerrno>
#include <cstddef>
#include <memory>
#include <new>
#include <string>
#include <system_error>
#include <utility>

#include <sys/mman.h>
#include <unistd.h>

#include <gsl/gsl>

#include "actors/device_record.hpp"
#include "actors/machine.hpp"
#include "actors/memory_actor.hpp"
#include "actors/scheduling/spawn.hpp"

namespace troupe {
namespace {

// Addresses for mappings, as a multiple of the device's memory.
constexpr std::uint64_t space_per_memory = 4;

std::byte* aligned(const arena& room) {
  void* at = room.base();
  std::size_t bytes = room.bytes();
  return static_cast<std::byte*>(std::align(address_map::alignment_max, 1, at, bytes));
}

} // namespace

// -- pages --------------------------------------------------------------------

page_file::page_file(std::uint64_t bytes) noexcept
    : descriptor_(memfd_create("troupe device memory", MFD_CLOEXEC)) {
  if (descriptor_ < 0 || ftruncate(descriptor_, gsl::narrow_cast<off_t>(bytes)) == 0) return;
  close(descriptor_);
  descriptor_ = -1;
}

page_file::~page_file() {
  if (descriptor_ >= 0) close(descriptor_);
}

physical_record::physical_record(std::shared_ptr<machine> home, device_record& device,
                                 std::byte* block, std::uint64_t bytes) noexcept
    : home_(std::move(home)), device_(device), block_(block), bytes_(bytes), pages_(bytes) {}

// Nobody uses it any more: each use holds its mapping. At the end of the runtime its memory is
// given back as a whole.
physical_record::~physical_record() {
  if (!home_->check_alive().ok()) return;
  post_free(device_.memory_keeper, device_.memory, block_, 0, {});
}

// -- the space ----------------------------------------------------------------

address_space::address_space(std::uint64_t bytes)
    : arena_(bytes + address_map::alignment_max), base_(aligned(arena_)), books_(bytes) {}

// Makes a change in the books and to the pages. What is let go of by it may be physical memory,
// which ends outside the lock.
template <class Change>
auto address_space::change(Change&& apply) {
  std::vector<address_map::ended> over;
  const std::lock_guard lock(guard_);
  auto outcome = apply(over);
  for (const auto& each : over) arena_.shut(base_ + each.offset, each.bytes);
  return std::pair(std::move(outcome), std::move(over));
}

result<address_map::range> address_space::reserve(std::uint64_t bytes, std::uint64_t alignment) {
  const std::lock_guard lock(guard_);
  return books_.reserve(bytes, alignment);
}

status address_space::release(std::uint64_t id, bool force) {
  return change([&](auto& over) { return books_.release(id, force, over); }).first;
}

status address_space::map(std::uint64_t id, std::uint64_t at,
                          std::shared_ptr<physical_record> memory) {
  const auto put = [&](std::vector<address_map::ended>& over) -> status {
    const auto where = books_.map(id, at, memory->bytes(), memory);
    if (!where) return where.error();
    const auto descriptor = memory->pages().descriptor();
    if (arena_.show(base_ + where.value(), memory->bytes(), descriptor)) return {};
    const auto reason = errno;
    (void)books_.unmap(id, at, over);
    return make_status(code::memory_allocation,
                       "the host refuses to map " + std::to_string(memory->bytes()) +
                           " bytes of device memory: " + std::generic_category().message(reason));
  };
  return change(put).first;
}

status address_space::map_own(std::uint64_t id, std::uint64_t bytes) {
  const auto put = [&](std::vector<address_map::ended>& over) -> status {
    const auto where = books_.map(id, 0, bytes, nullptr);
    if (!where) return where.error();
    const auto at = static_cast<std::uint64_t>(base_ - arena_.base()) + where.value();
    if (arena_.open(at, bytes)) return {};
    (void)books_.unmap(id, 0, over);
    return make_status(code::memory_allocation, "the host refuses to open " +
                                                    std::to_string(bytes) +
                                                    " bytes of device memory");
  };
  return change(put).first;
}

status address_space::unmap(std::uint64_t id, std::uint64_t at) {
  return change([&](auto& over) { return books_.unmap(id, at, over); }).first;
}

status address_space::set_access(std::uint64_t id, std::uint64_t context, mapped_access access) {
  const std::lock_guard lock(guard_);
  return books_.set_access(id, context, access);
}

result<address_map::held> address_space::hold(std::uint64_t context, const void* address,
                                              std::uint64_t bytes, access_mode mode) {
  const auto* at = static_cast<const std::byte*>(address);
  const std::lock_guard lock(guard_);
  return books_.hold(context, static_cast<std::uint64_t>(at - base_), bytes, mode);
}

void address_space::let_go(const address_map::held& what) {
  (void)change([&](auto& over) {
    books_.let_go(what, over);
    return true;
  });
}

// -- the spaces of a runtime --------------------------------------------------

bool device_record::maps(const void* address) const noexcept {
  const auto* its = space.load(std::memory_order_acquire);
  return its != nullptr && its->contains(address);
}

address_space* machine::space_of(const void* address) const noexcept {
  for (const auto& each : devices_) {
    if (each->maps(address)) return each->space.load(std::memory_order_acquire);
  }
  return nullptr;
}

result<address_space*> machine::open_space(device_record& device) {
  const std::lock_guard lock(start_guard_);
  if (auto* known = device.space.load(std::memory_order_acquire)) return known;
  try {
    device.set_space(
        std::make_shared<address_space>(space_per_memory * device.memory->range().bytes()));
  } catch (const std::bad_alloc&) {
    return make_status(code::memory_allocation,
                       "the process has no address space for mappings of device " +
                           std::to_string(device.index()));
  }
  memory_looks_.fetch_or(memory_look::mapped, std::memory_order_release);
  return device.space.load(std::memory_order_acquire);
}

} // namespace troupe
