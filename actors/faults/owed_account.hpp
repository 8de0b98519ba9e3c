#pragma once

#include <memory>

#include "core/faults/fault_injector.hpp"

namespace troupe {

/// The account of a live runtime's faults, which is given once: when the runtime ends, or, if it
/// still lives then, when the process does by `exit` or the end of `main`. Not by `_exit`, `abort`
/// or a signal, and not in a forked child, whose parent will give it.
struct owed_account;

/// From now on the account of what `by` decides is owed. Any thread; the result lives for ever and
/// is the caller's until it is settled.
[[nodiscard]] owed_account& owe_account(std::shared_ptr<const fault_injector> by);

/// Gives it, by `tell_faults`, unless the process's end came first. Any thread, once.
void settle(owed_account& owed);

} // namespace troupe
