#include "troupe/pool.hpp"

#include <string>

#include "actors/ask.hpp"
#include "actors/pool_actor.hpp"
#include "api/src/states.hpp"

namespace troupe {
namespace {

// How often an allocation may find the slab it asked for taken by others.
constexpr int grow_attempts_max = 16;

} // namespace

pool_block::pool_block(std::shared_ptr<handles::pool_state> pool,
                       std::shared_ptr<handles::stream_state> user, std::byte* data,
                       std::size_t bytes)
    : pool_(std::move(pool)), user_(std::move(user)), data_(data), bytes_(bytes) {}

void pool_block::give_back() noexcept {
  if (data_ == nullptr) return;
  // The pool's lock may be held for ever in a forked child.
  if (!pool_->owner->home->inherited()) {
    const auto& line = user_->record->line();
    pool_->record->put_back({data_, bytes_}, {line, line->submitted()});
  }
  data_ = nullptr;
  bytes_ = 0;
  user_.reset();
  pool_.reset();
}

std::uint64_t pool_block::context_id() const noexcept {
  return pool_ ? pool_->owner->record->id() : 0;
}

result<pool_block> pool::allocate_bytes(const stream& user, std::size_t count,
                                        std::size_t element_bytes) const {
  if (!state_) return make_status(code::invalid_handle, "the pool handle is empty");
  if (!user.state()) return make_status(code::invalid_handle, "the stream handle is empty");
  auto& home = *state_->owner->home;
  auto& record = *state_->record;
  if (auto s = may_call(home, "pool::allocate"); !s.ok()) return s;
  if (record.context().destroyed()) return record.context().check_usable();
  const auto bytes = bytes_of(count, element_bytes);
  if (!bytes) return bytes.error();
  if (&user.state()->record->context() != &record.context()) {
    return make_status(code::stream_context,
                       "the pool is of context " + std::to_string(record.context().id()) +
                           ", the stream of context " + std::to_string(user.context_id()));
  }
  const auto& line = *user.state()->record->line();
  for (int attempt = 0; attempt < grow_attempts_max; ++attempt) {
    if (const auto got = record.take(bytes.value(), line)) {
      return pool_block(state_, user.state(), got->data, got->bytes);
    }
    auto grown = ask<status>(home.room(), record.actor, [&](reply<status> answer) {
      return grow_pool{bytes.value(), std::move(answer)};
    });
    if (!grown.ok()) return record.context().destroyed() ? record.context().check_usable() : grown;
  }
  return make_status(code::memory_allocation, "other threads took every block that the pool of "
                                              "context " +
                                                  std::to_string(record.context().id()) +
                                                  " grew by");
}

pool_counters pool::counters() const {
  const bool here = state_ && !state_->owner->home->inherited();
  return here ? state_->record->counters() : pool_counters{};
}

} // namespace troupe
