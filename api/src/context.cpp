#include "troupe/context.hpp"

#include <cstring>
#include <optional>
#include <string>

#include "actors/ask.hpp"
#include "actors/context_actor.hpp"
#include "actors/graphs/capture.hpp"
#include "actors/mapped_uses.hpp"
#include "actors/memory_checker.hpp"
#include "actors/pool_actor.hpp"
#include "actors/scheduling/spawn.hpp"
#include "actors/stream_actor.hpp"
#include "actors/use_table.hpp"
#include "actors/waiting.hpp"
#include "api/src/binding.hpp"
#include "api/src/copy.hpp"
#include "api/src/states.hpp"

namespace troupe {
namespace {

// An actor that has ended answers nothing; what the caller wants to know is why it ended.
status explained(const context_record& record, status failed) {
  const bool unanswered = failed.code() == code::internal_error;
  return unanswered && record.destroyed() ? record.check_usable() : failed;
}

} // namespace

std::uint64_t context::id() const noexcept { return state_ ? state_->record->id() : 0; }

std::uint32_t context::device_index() const noexcept {
  return state_ ? state_->record->device().index() : 0;
}

status context::health() const {
  if (!state_) return make_status(code::context_null, "the context handle is empty");
  if (auto s = state_->home->check_alive(); !s.ok()) return s;
  if (auto s = state_->home->let_things_change("context::health"); !s.ok()) return s;
  return state_->record->check_usable();
}

// -- parts --------------------------------------------------------------------

result<stream> context::create_stream(const stream_options& options) const {
  if (auto s = may_use(state_, "context::create_stream"); !s.ok()) return s;
  auto made = ask<result<std::shared_ptr<stream_record>>>(
      *state_->home, state_->record->actor, "context::create_stream",
      [&](auto answer) {
        return troupe::create_stream{options.priority, options.queue_depth, std::move(answer)};
      },
      [](auto& unwanted) {
        post(unwanted.value()->actor, close_stream{true, no_reply<status>()});
      });
  if (!made) return explained(*state_->record, made.error());
  return stream(
      std::make_shared<handles::stream_state>(state_->home, std::move(made).value(), true));
}

result<stream> context::default_stream() const {
  if (auto s = may_use(state_, "context::default_stream"); !s.ok()) return s;
  auto record = state_->record->default_stream();
  if (!record) return state_->record->check_usable();
  return stream(std::make_shared<handles::stream_state>(state_->home, std::move(record), false));
}

result<event> context::create_event() const {
  if (auto s = may_use(state_, "context::create_event"); !s.ok()) return s;
  const auto& owner = state_->record;
  auto slot = owner->take_event_slot();
  if (!slot) return slot.error();
  return event(
      std::make_shared<handles::event_state>(state_->home, owner, std::move(slot).value()));
}

result<pool> context::create_pool(const pool_options& options) const {
  if (auto s = may_use(state_, "context::create_pool"); !s.ok()) return s;
  auto made = ask<result<std::shared_ptr<pool_record>>>(
      *state_->home, state_->record->actor, "context::create_pool",
      [&](auto answer) { return troupe::create_pool{options, std::move(answer)}; },
      [](auto& unwanted) { post(unwanted.value()->actor, close_pool{}); });
  if (!made) return explained(*state_->record, made.error());
  return pool(std::make_shared<handles::pool_state>(state_, std::move(made).value()));
}

// -- memory -------------------------------------------------------------------

result<device_block> context::allocate_bytes(std::size_t count, std::size_t element_bytes,
                                             initial contents, page_kind pages) const {
  if (auto s = may_use(state_, "context::allocate"); !s.ok()) return s;
  const auto bytes = bytes_of(count, element_bytes);
  if (!bytes) return bytes.error();
  const auto& record = *state_->record;
  auto got = ask<result<memory_block>>(
      *state_->home, record.device().memory_keeper, "context::allocate",
      [&](auto answer) {
        return allocate_block{bytes.value(), record.id(), std::move(answer), pages};
      },
      free_unwanted(record.device().memory_keeper, record.device().memory, record.id()));
  // A context that ended meanwhile gave its memory to whoever asked next: the first cause counts.
  if (!got) return record.destroyed() ? record.check_usable() : got.error();
  // The context may end while this thread clears the block.
  auto& memory = *record.device().memory;
  const auto held = memory.lease_of(got.value().data, got.value().bytes, record.id());
  if (!held || record.destroyed()) {
    // It may have come after the context's memory was given back as a whole.
    post_free(record.device().memory_keeper, record.device().memory, got.value().data, record.id(),
              {});
    return record.check_usable();
  }
  device_block made(state_, got.value().data, got.value().bytes);
  // On the caller's thread: control handlers stay short however large the block is.
  if (contents == initial::cleared) {
    std::memset(made.data(), 0, made.bytes());
    if (auto* checker = memory.checker()) {
      checker->use({made.data(), made.bytes(), access_mode::write}, {});
    }
  }
  return made;
}

status context::copy_raw(const copy_request& request) const {
  if (request.bytes == 0) return {};
  if (auto s = may_use(state_, "context::copy"); !s.ok()) return s;
  if (auto s = capture::refuse_unsafe("context::copy"); !s.ok()) return s;
  const auto checked = check_copy(*state_->home, request);
  const auto held = checked ? hold_copy(*state_->home, request, checked.value()) : std::nullopt;
  // Of a context that was just destroyed the memory is gone as well: the first cause counts.
  if (!held) {
    if (state_->record->destroyed()) return state_->record->check_usable();
    return checked ? make_status(code::invalid_parameter, "memory was freed as its copy began")
                   : checked.error();
  }
  mapped_uses mapped;
  use_table::uses counted;
  if (state_->home->memory_looks() != 0) {
    const auto made = make_copy_command(request, checked.value().direction);
    if (auto s = counted.begin(*state_->home, made); !s.ok()) return s;
    if (auto s = mapped.hold(*state_->home, id(), made); !s.ok()) return s;
    if (state_->home->checks_memory()) check_uses(*state_->home, made, 0);
  }
  run_copy_here(*state_->home, request, checked.value().direction);
  return {};
}

// -- completion ---------------------------------------------------------------

status context::synchronize(timeout limit) const {
  if (auto s = may_use(state_, "context::synchronize"); !s.ok()) return s;
  if (auto s = capture::refuse_in(*state_->record, "context::synchronize"); !s.ok()) return s;
  auto& home = *state_->home;
  const auto deadline = deadline_after(home, limit.count());
  if (!deadline) return deadline.error();
  // What was submitted before the call, on all streams, before waiting for any.
  std::vector<context_record::stream_target> targets;
  for (auto& each : state_->record->streams()) {
    const auto number = each->line()->submitted();
    targets.push_back({std::move(each), number});
  }
  status interrupted;
  for (const auto& [stream, number] : targets) {
    switch (wait_for_number(home.room(), *stream->line(), number, deadline.value())) {
      case wait_end::reached: break;
      case wait_end::interrupted:
        if (interrupted.ok()) {
          interrupted = make_status(code::stream_abort,
                                    "stream " + std::to_string(stream->id()) + " was aborted");
        }
        break;
      case wait_end::expired: return stream->overdue(limit.count());
      case wait_end::let_go: return home.room().why_let_go();
    }
  }
  if (state_->record->has_surplus()) give_back_surplus(*state_->record);
  if (auto s = state_->record->check_usable(); !s.ok()) return s;
  // Failures are taken by a call that reports one, and no more than that one's stream has.
  return interrupted.ok() ? state_->record->take_first_failure(targets) : interrupted;
}

// -- control ------------------------------------------------------------------

status context::bind() const {
  if (auto s = may_use(state_, "context::bind"); !s.ok()) return s;
  if (auto s = binding::check_bindable("context::bind"); !s.ok()) return s;
  binding::set(state_);
  return {};
}

status context::destroy() const {
  if (!state_) return make_status(code::context_null, "the context handle is empty");
  if (auto s = may_call(*state_->home, "context::destroy"); !s.ok()) return s;
  const auto ended = [this] {
    return make_status(code::invalid_handle,
                       "context " + std::to_string(id()) + " has been destroyed");
  };
  if (state_->record->destroyed()) return ended();
  if (state_->record->primary()) {
    return make_status(code::invalid_parameter,
                       "context " + std::to_string(id()) +
                           " is its device's primary one; it ends by runtime::reset_device");
  }
  auto outcome = end_context(*state_->home, *state_->record);
  const bool by_another = outcome.code() == code::internal_error && state_->record->destroyed();
  return by_another ? ended() : outcome;
}

} // namespace troupe
