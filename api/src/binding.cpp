#include "api/src/binding.hpp"

#include <string>
#include <utility>

#include "api/src/states.hpp"

namespace troupe::binding {

constinit thread_local const context_record* detail::bound_record = nullptr;

namespace {

// Whether the thread's binding has ended with the thread: other destructors of the thread may still
// run, and find none.
constinit thread_local bool over = false;

struct holder {
  std::shared_ptr<handles::context_state> state;

  holder() = default;
  ~holder() {
    over = true;
    detail::bound_record = nullptr;
  }
  holder(const holder&) = delete;
  holder& operator=(const holder&) = delete;
};

thread_local holder bound;

status released() {
  const auto id = detail::bound_record->id();
  set(nullptr);
  return make_status(code::context_released, "the thread's current context " + std::to_string(id) +
                                                 " has been destroyed; the thread has none now");
}

} // namespace

status check_bindable(const char* call) {
  if (!over) return {};
  return make_status(code::not_supported,
                     std::string(call) + ": the calling thread ends, and its binding has ended");
}

void set(std::shared_ptr<handles::context_state> state) noexcept {
  if (over) return; // the thread ends: it stays unbound
  detail::bound_record = state ? state->record.get() : nullptr;
  bound.state.swap(state);
}

void forget(const context_record& target) noexcept {
  if (detail::bound_record == &target) set(nullptr);
}

result<std::shared_ptr<handles::context_state>> get() {
  if (detail::bound_record == nullptr) {
    return make_status(code::context_null, "the calling thread has no current context");
  }
  if (detail::bound_record->destroyed()) return released();
  return bound.state;
}

status detail::check_bound(const context_record& target) {
  if (detail::bound_record->destroyed()) return released();
  if (detail::bound_record == &target) return {};
  if (&detail::bound_record->home() != &target.home()) {
    return make_status(code::stream_context,
                       "the call is for context " + std::to_string(target.id()) +
                           " of another runtime than the thread's current context");
  }
  return make_status(code::stream_context,
                     "the thread's current context is " +
                         std::to_string(detail::bound_record->id()) +
                         ", not " + std::to_string(target.id()) + ", which the call is for");
}

} // namespace troupe::binding
