#pragma once

#include <memory>

#include "core/status.hpp"
#include "troupe/handles.hpp"

namespace troupe::binding {

namespace detail {
// The thread's binding as plain data: looked at on every submission.
extern constinit thread_local const context_record* bound_record;
[[nodiscard]] status check_bound(const context_record& target);
} // namespace detail

/// Whether `call` may bind the calling thread: 207000 once that is ending and its binding with it,
/// in destructors of its thread-local objects.
[[nodiscard]] status check_bindable(const char* call);

/// Binds the calling thread to `state`; null unbinds.
void set(std::shared_ptr<handles::context_state> state) noexcept;

/// Unbinds the calling thread from `target`, which it has ended itself; no matter if it was bound.
void forget(const context_record& target) noexcept;

/// What the calling thread is bound to. 107002 when to nothing; 507007, once, when that context has
/// been destroyed: the thread is then unbound.
[[nodiscard]] result<std::shared_ptr<handles::context_state>> get();

/// Whether the calling thread may submit to `target`: an unbound thread may use any context by
/// name, a bound one only its own (107003). 507007 as `get`.
[[nodiscard]] inline status check(const context_record& target) {
  if (detail::bound_record == nullptr) [[likely]] return {};
  return detail::check_bound(target);
}

} // namespace troupe::binding
