#pragma once

#include <string>
#include <utility>

#include "api/acl/src/session.hpp"
#include "core/status.hpp"

namespace troupe::acl {

/// The number for the C caller. A failure also becomes the calling thread's recent message and,
/// unless it is of the outer checks (100xxx), its last error.
int report(const status& outcome) noexcept;

/// What a function of the interface catches: whatever is thrown becomes a code.
int report_current_exception() noexcept;

/// What every call in a forked child answers: 207000.
int report_inherited() noexcept;

/// Runs the body of one function of the interface, which returns a status. Nothing gets out.
template <class Body>
int call(Body&& body) noexcept {
  if (inherited()) [[unlikely]]
    return report_inherited();
  try {
    const status outcome = std::forward<Body>(body)();
    return outcome.ok() ? 0 : report(outcome);
  } catch (...) {
    return report_current_exception();
  }
}

/// As `call`, for what returns something else than a code: `otherwise` on failure.
template <class Result, class Body>
Result call_for(Result otherwise, Body&& body) noexcept {
  try {
    return std::forward<Body>(body)();
  } catch (...) {
    (void)report_current_exception();
    return otherwise;
  }
}

/// A failure of the outer checks: 100000, naming the function's argument.
[[nodiscard]] status bad_argument(const std::string& what);

/// 107000.
[[nodiscard]] status bad_parameter(const std::string& what);

/// 207000 with `what`; `function` is counted for the report at exit (`TROUPE_ACL_REPORT=1`).
[[nodiscard]] status unsupported(const char* function, const std::string& what);

/// The calling thread's last error, which `clear` forgets.
[[nodiscard]] int last_error(bool clear) noexcept;

/// The calling thread's most recent message, valid until the thread asks again; null when there is
/// none that was not asked for before.
[[nodiscard]] const char* take_recent_message() noexcept;

}  // namespace troupe::acl
