// Temporary blocks of device memory.

#include <memory>
#include <utility>

#include "actors/address_space.hpp"
#include "actors/ask.hpp"
#include "actors/temporary_record.hpp"
#include "actors/use_table.hpp"
#include "api/src/states.hpp"
#include "troupe/context.hpp"

namespace troupe {
namespace {

// Has `one`, which has no memory, occupy a block of its device.
status give_memory(const handles::context_state& owner, temporary_record& one,
                   std::uint64_t bytes) {
  const auto& keeper = one.device().memory_keeper;
  auto got = ask<result<memory_block>>(
      *owner.home, keeper, "context::allocate_temporary",
      [&](auto answer) { return allocate_block{bytes, one.owner(), std::move(answer)}; },
      free_unwanted(keeper, one.device().memory, one.owner()));
  if (!got) return owner.record->destroyed() ? owner.record->check_usable() : got.error();
  if (one.occupy(got.value().data)) return {};
  post_free(keeper, one.device().memory, got.value().data, one.owner(), {});
  return make_status(code::memory_allocation, "the host refuses to open " +
                                                  std::to_string(bytes) +
                                                  " bytes of device memory");
}

std::uint64_t occupied_by(std::uint64_t bytes) {
  return (bytes + address_map::granule - 1) / address_map::granule * address_map::granule;
}

} // namespace

result<temporary_block> context::allocate_temporary_bytes(std::size_t count,
                                                          std::size_t element_bytes) const {
  if (auto s = may_use(state_, "context::allocate_temporary"); !s.ok()) return s;
  const auto bytes = bytes_of(count, element_bytes);
  if (!bytes) return bytes.error();
  auto& home = *state_->home;
  auto& device = state_->record->device();
  const auto space = home.open_space(device);
  if (!space) return space.error();
  const auto where = space.value()->reserve(bytes.value(), 0);
  if (!where) return where.error();
  auto made = std::make_shared<temporary_record>(device, *space.value(), where.value(),
                                                 bytes.value(), id());
  if (auto s = space.value()->set_access(where.value().id, id(), mapped_access::read_write);
      !s.ok()) {
    return s;
  }
  if (auto s = give_memory(*state_, *made, where.value().bytes); !s.ok()) return s;
  home.count_uses();
  home.uses().add_temporary(made);
  return temporary_block(state_, std::move(made));
}

temporary_block::temporary_block(std::shared_ptr<handles::context_state> owner,
                                 std::shared_ptr<temporary_record> record) noexcept
    : owner_(std::move(owner)), record_(std::move(record)) {}

// What is at work keeps the block; the memory actor looks after it then.
temporary_block::~temporary_block() {
  if (!record_ || owner_->home->inherited()) return;
  auto& home = *owner_->home;
  home.uses().drop_temporary(*record_);
  for (const auto& each : home.uses().take_dropped()) {
    auto* block = each->vacate();
    if (block == nullptr || !home.check_alive().ok()) continue;
    post_free(each->device().memory_keeper, each->device().memory, block, each->owner(), {});
  }
}

std::byte* temporary_block::data() const noexcept { return record_ ? record_->data() : nullptr; }

std::size_t temporary_block::bytes() const noexcept { return record_ ? record_->bytes() : 0; }

std::uint64_t temporary_block::context_id() const noexcept {
  return record_ ? record_->owner() : 0;
}

bool temporary_block::released() const noexcept { return record_ && record_->released(); }

status temporary_block::renew() const {
  if (!record_) return make_status(code::invalid_handle, "the buffer holds no memory");
  if (auto s = may_use(owner_, "temporary_buffer::renew"); !s.ok()) return s;
  if (!record_->released()) return {};
  if (auto s = give_memory(*owner_, *record_, occupied_by(record_->bytes())); !s.ok()) return s;
  (void)owner_->home->uses().renew(*record_);
  return {};
}

} // namespace troupe
