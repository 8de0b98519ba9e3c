#include "troupe/pool.hpp"

#include <string>

#include "actors/ask.hpp"
#include "actors/pool_actor.hpp"
#include "actors/scheduling/spawn.hpp"
#include "api/src/states.hpp"

namespace troupe {
namespace {

// How often an allocation may find the slab it asked for taken by others.
constexpr int grow_attempts_max = 16;

using piece = pool_record::piece;

piece piece_of(std::byte* data, std::size_t bytes, void* place) {
  return {data, bytes, static_cast<decltype(piece::place)>(place)};
}

// Not asked of the device: the pool's own rounding has no number for the largest requests.
status too_large(const context_record& context, std::uint64_t bytes, std::uint64_t limit) {
  const auto& memory = *context.device().memory;
  error_record record;
  record.what = code::memory_allocation;
  record.message = memory.name() + " has no room for " + std::to_string(bytes) +
                   " bytes: it has " + std::to_string(limit);
  record.lacking = shortage{memory.name(), bytes, memory.info().used, limit};
  return status(std::move(record));
}

status gone(const pool_record& pool) {
  return make_status(code::invalid_handle, "the pool of context " +
                                               std::to_string(pool.context().id()) +
                                               " has been destroyed");
}

// At the point that `at` has come to.
void put_back(handles::pool_state& pool, const stream_record& at,
              const pool_record::piece& block) {
  auto& record = *pool.record;
  const auto& line = at.line();
  const bool used_elsewhere = !record.is_of(block, *line) || pool_record::uses_of(block) ==
                                                                 pool_record::reach::other_streams;
  auto others = record.uses_elsewhere(block, *line);
  if (!others.empty() && used_elsewhere) {
    auto unordered = others; // what comes before the free by an event is no mistake
    std::erase_if(unordered, [&](const ticket& each) {
      return record.context().waits().comes_after(*line, each);
    });
    pool.owner->home->note_freed_in_use(
        "pool of context " + std::to_string(record.context().id()), block.bytes, unordered);
  }
  record.put_back(block, {line, line->submitted()}, std::move(others));
}

} // namespace

pool_block::pool_block(std::shared_ptr<handles::pool_state> pool,
                       std::shared_ptr<handles::stream_state> user, std::byte* data,
                       std::size_t bytes, void* place)
    : pool_(std::move(pool)), user_(std::move(user)), data_(data), bytes_(bytes), place_(place) {}

void pool_block::give_back() noexcept {
  if (data_ == nullptr) return;
  // The pool's lock may be held for ever in a forked child.
  if (!pool_->owner->home->inherited()) {
    put_back(*pool_, *user_->record, piece_of(data_, bytes_, place_));
  }
  data_ = nullptr;
  bytes_ = 0;
  user_.reset();
  pool_.reset();
}

status pool_block::give_back_at(const stream& where) {
  if (data_ == nullptr) {
    return make_status(code::invalid_parameter, "the buffer holds no memory: freed already?");
  }
  if (!where.state()) return make_status(code::invalid_handle, "the stream handle is empty");
  auto& at = *where.state()->record;
  if (auto s = may_call(*pool_->owner->home, "pool_buffer::free"); !s.ok()) return s;
  if (&at.context() != &pool_->record->context()) {
    return make_status(code::stream_context,
                       "the block is of a pool of context " + std::to_string(context_id()) +
                           ", the stream of context " + std::to_string(where.context_id()));
  }
  if (at.closed()) {
    return make_status(code::invalid_handle,
                       "stream " + std::to_string(where.id()) + " has been destroyed");
  }
  user_ = where.state();
  give_back();
  return {};
}

void pool_block::note_use(const handles::stream_state* user) const noexcept {
  if (data_ == nullptr) return;
  using reach = pool_record::reach;
  const auto block = piece_of(data_, bytes_, place_);
  if (user == nullptr) {
    pool_record::note_use(block, reach::unknown);
  } else if (user->record != user_->record) {
    pool_record::note_use(block, reach::other_streams);
  }
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
  if (auto s = record.context().device().check_present(); !s.ok()) return s;
  const auto bytes = bytes_of(count, element_bytes);
  if (!bytes) return bytes.error();
  if (&user.state()->record->context() != &record.context()) {
    return make_status(code::stream_context,
                       "the pool is of context " + std::to_string(record.context().id()) +
                           ", the stream of context " + std::to_string(user.context_id()));
  }
  if (user.state()->record->closed()) {
    return make_status(code::invalid_handle,
                       "stream " + std::to_string(user.id()) + " has been destroyed");
  }
  const auto limit = record.context().device().memory->range().bytes();
  if (bytes.value() > limit) return too_large(record.context(), bytes.value(), limit);
  const auto& line = *user.state()->record->line();
  for (int attempt = 0; attempt < grow_attempts_max; ++attempt) {
    if (const auto got = record.take(bytes.value(), line)) {
      return pool_block(state_, user.state(), got->data, got->bytes, got->place);
    }
    if (record.given_up()) return gone(record);
    auto grown = ask<status>(home, record.actor, "pool::allocate", [&](reply<status> answer) {
      return grow_pool{bytes.value(), std::move(answer)};
    });
    if (!grown.ok()) return record.context().destroyed() ? record.context().check_usable() : grown;
  }
  return make_status(code::memory_allocation, "other threads took every block that the pool of "
                                              "context " +
                                                  std::to_string(record.context().id()) +
                                                  " grew by");
}

status pool::check_open(const char* call) const {
  if (!state_) return make_status(code::invalid_handle, "the pool handle is empty");
  if (auto s = may_use(state_->owner, call); !s.ok()) return s;
  return state_->record->given_up() ? gone(*state_->record) : status{};
}

status pool::trim(std::uint64_t keep_bytes) const {
  if (auto s = check_open("pool::trim"); !s.ok()) return s;
  const auto idle = state_->record->trim(keep_bytes);
  if (!idle) return idle.error();
  give_back_idle(*state_->record, idle.value());
  return {};
}

status pool::destroy() const {
  if (auto s = check_open("pool::destroy"); !s.ok()) return s;
  if (auto s = give_back_unused(*state_->record); !s.ok()) return s;
  post(state_->record->actor, close_pool{});
  return {};
}

void pool::reset_high_water() const {
  if (state_ && !state_->owner->home->inherited()) state_->record->reset_high_water();
}

pool_counters pool::counters() const {
  const bool here = state_ && !state_->owner->home->inherited();
  if (!here) return {};
  (void)state_->owner->home->let_things_change("pool::counters");
  return state_->record->counters();
}

} // namespace troupe
