#pragma once

#include <memory>

#include "core/status.hpp"
#include "troupe/handles.hpp"

namespace troupe::binding {

/// Binds the calling thread to `state`; null unbinds.
void set(std::shared_ptr<handles::context_state> state) noexcept;

/// What the calling thread is bound to. 107002 when to nothing; 507007, once, when that context has
/// been destroyed: the thread is then unbound.
[[nodiscard]] result<std::shared_ptr<handles::context_state>> get();

/// Whether the calling thread may submit to `target`: an unbound thread may use any context by
/// name, a bound one only its own (107003). 507007 as `get`.
[[nodiscard]] status check(const context_record& target);

} // namespace troupe::binding
