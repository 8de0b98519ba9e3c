#include "api/src/binding.hpp"

#include <string>
#include <utility>

#include "api/src/states.hpp"

namespace troupe::binding {
namespace {

thread_local std::shared_ptr<handles::context_state> bound;
// The same, as plain data: looked at on every submission.
thread_local const context_record* bound_record = nullptr;

status released() {
  const auto id = bound_record->id();
  set(nullptr);
  return make_status(code::context_released, "the thread's current context " + std::to_string(id) +
                                                 " has been destroyed; the thread has none now");
}

} // namespace

void set(std::shared_ptr<handles::context_state> state) noexcept {
  bound_record = state ? state->record.get() : nullptr;
  bound = std::move(state);
}

result<std::shared_ptr<handles::context_state>> get() {
  if (bound_record == nullptr) {
    return make_status(code::context_null, "the calling thread has no current context");
  }
  if (bound_record->destroyed()) return released();
  return bound;
}

status check(const context_record& target) {
  if (bound_record == nullptr) return {};
  if (bound_record->destroyed()) return released();
  if (bound_record == &target) return {};
  return make_status(code::stream_context,
                     "the thread's current context is " + std::to_string(bound_record->id()) +
                         ", not " + std::to_string(target.id()) + ", which the call is for");
}

} // namespace troupe::binding
