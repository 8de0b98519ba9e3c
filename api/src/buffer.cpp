#include "troupe/buffer.hpp"

#include <utility>

#include "actors/ask.hpp"
#include "actors/scheduling/spawn.hpp"
#include "api/src/states.hpp"

namespace troupe {

device_block::device_block(std::shared_ptr<handles::context_state> owner, std::byte* data,
                           std::size_t bytes)
    : owner_(std::move(owner)), data_(data), bytes_(bytes), context_id_(owner_->record->id()) {}

// A destructor cannot wait: the memory actor is told and nobody listens.
device_block::~device_block() {
  if (data_ == nullptr) return;
  const auto& record = *owner_->record;
  if (!owner_->home->check_alive().ok() || record.destroyed()) return;
  // At once: work that is submitted to it from now on is a mistake.
  const auto& device = record.device();
  device.memory->retire(data_, context_id_);
  post_free(device.memory_keeper, device.memory, data_, context_id_, record.outstanding());
}

std::byte* device_block::release() noexcept {
  bytes_ = 0;
  owner_.reset();
  return std::exchange(data_, nullptr);
}

status device_block::free() {
  if (data_ == nullptr) {
    return make_status(code::invalid_parameter, "the buffer holds no memory: freed already?");
  }
  auto& home = *owner_->home;
  const auto& record = *owner_->record;
  if (auto s = may_call(home, "buffer::free"); !s.ok()) return s;
  status freed;
  if (!record.destroyed()) {
    freed = ask<status>(
        home, record.device().memory_keeper, "buffer::free", [&](reply<status> answer) {
          return free_block{data_, context_id_, record.outstanding(), std::move(answer)};
        });
  }
  if (freed.ok()) {
    data_ = nullptr;
    bytes_ = 0;
    owner_.reset();
  }
  return freed;
}

// Copies in flight of any context may still use the block.
host_block::~host_block() {
  if (data_ == nullptr) return;
  if (!owner_->check_alive().ok()) {
    if (owner_->stopping()) owner_->host_memory()->free_after_end(data_);
    return;
  }
  owner_->host_memory()->retire(data_, 0);
  post_free(owner_->host_memory_keeper(), owner_->host_memory(), data_, 0,
            owner_->outstanding());
}

} // namespace troupe
