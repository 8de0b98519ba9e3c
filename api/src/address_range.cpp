#include "troupe/address_range.hpp"

#include <string>
#include <utility>

#include "actors/address_space.hpp"
#include "actors/ask.hpp"
#include "api/src/states.hpp"
#include "troupe/device.hpp"

namespace troupe {

struct address_range::state {
  state(std::shared_ptr<machine> h, device_record& d, address_space& s, address_map::range r)
      : home(std::move(h)), device(d), space(s), where(r) {}
  ~state() {
    if (!home->inherited()) (void)space.release(where.id, true);
  }
  state(const state&) = delete;
  state& operator=(const state&) = delete;

  const std::shared_ptr<machine> home;
  device_record& device;
  address_space& space;
  const address_map::range where;
};

std::size_t physical_memory::bytes() const noexcept { return record_ ? record_->bytes() : 0; }

// -- of a device --------------------------------------------------------------

result<address_range> device::reserve(std::size_t bytes, std::size_t alignment) const {
  if (!home_) return make_status(code::invalid_handle, "the device handle is empty");
  if (auto s = may_call(*home_, "device::reserve"); !s.ok()) return s;
  if (auto s = record_->check_present(); !s.ok()) return s;
  const auto space = home_->open_space(*record_);
  if (!space) return space.error();
  const auto got = space.value()->reserve(bytes, alignment);
  if (!got) return got.error();
  return address_range(std::make_shared<address_range::state>(home_, *record_, *space.value(),
                                                              got.value()));
}

result<physical_memory> device::create_physical(std::size_t bytes) const {
  if (!home_) return make_status(code::invalid_handle, "the device handle is empty");
  if (auto s = may_call(*home_, "device::create_physical"); !s.ok()) return s;
  if (auto s = record_->check_present(); !s.ok()) return s;
  if (const auto space = home_->open_space(*record_); !space) return space.error();
  constexpr auto unit = mapping_granularity;
  const auto rounded = bytes > SIZE_MAX - unit ? bytes : (bytes + unit - 1) / unit * unit;
  auto got = ask<result<memory_block>>(
      *home_, record_->memory_keeper, "device::create_physical",
      [&](auto answer) { return allocate_block{rounded, 0, std::move(answer)}; },
      free_unwanted(record_->memory_keeper, record_->memory, 0));
  if (!got) return got.error();
  auto made = std::make_shared<physical_record>(home_, *record_, got.value().data, rounded);
  if (!made->pages().valid()) {
    return make_status(code::memory_allocation, "the host refuses the pages for " +
                                                    std::to_string(rounded) +
                                                    " bytes of device memory");
  }
  return physical_memory(std::move(made));
}

// -- of a range ---------------------------------------------------------------

void* address_range::address() const noexcept {
  return state_ ? state_->space.address_of(state_->where.offset) : nullptr;
}

std::size_t address_range::bytes() const noexcept { return state_ ? state_->where.bytes : 0; }

status address_range::check(const char* call) const {
  if (!state_) return make_status(code::invalid_handle, "the handle of a range is empty");
  return may_call(*state_->home, call);
}

status address_range::map(std::size_t offset, const physical_memory& memory) const {
  if (auto s = check("address_range::map"); !s.ok()) return s;
  const auto& record = memory.record();
  if (!record) {
    return make_status(code::invalid_parameter, "the handle of the memory to map is empty");
  }
  if (&record->device() != &state_->device) {
    return make_status(code::invalid_parameter,
                       "memory of device " + std::to_string(record->device().index()) +
                           (&record->home() == state_->home.get() ? "" : " of another runtime") +
                           " is mapped into a range of device " +
                           std::to_string(state_->device.index()));
  }
  if (auto s = state_->device.check_present(); !s.ok()) return s;
  return state_->space.map(state_->where.id, offset, record);
}

status address_range::unmap(std::size_t offset) const {
  if (auto s = check("address_range::unmap"); !s.ok()) return s;
  return state_->space.unmap(state_->where.id, offset);
}

status address_range::set_access(mapped_access access, const context& user) const {
  if (auto s = check("address_range::set_access"); !s.ok()) return s;
  if (auto s = user.health(); !s.ok()) return s;
  const auto found = state_->home->find_context(user.id());
  if (!found || &found->device() != &state_->device) {
    return make_status(code::invalid_parameter,
                       "context " + std::to_string(user.id()) +
                           " is not of the device and runtime of the range");
  }
  return state_->space.set_access(state_->where.id, user.id(), access);
}

status address_range::release() const {
  if (auto s = check("address_range::release"); !s.ok()) return s;
  return state_->space.release(state_->where.id, false);
}

status address_range::check_view(std::size_t offset, std::size_t count, std::size_t size,
                                 std::size_t alignment) const {
  if (!state_) return make_status(code::invalid_handle, "the handle of a range is empty");
  const auto all = state_->where.bytes;
  if (offset > all || count > (all - offset) / size) {
    return make_status(code::invalid_parameter,
                       "a view of " + std::to_string(count) + " elements of " +
                           std::to_string(size) + " bytes at offset " + std::to_string(offset) +
                           " leaves the range of " + std::to_string(all) + " bytes");
  }
  if (offset % alignment == 0) return {};
  return make_status(code::invalid_parameter, "the offset " + std::to_string(offset) +
                                                  " is not a multiple of " +
                                                  std::to_string(alignment));
}

} // namespace troupe
