#pragma once

#include <ostream>

#include <gmock/gmock.h>

#include "core/status.hpp"

namespace troupe {

/// How a status shows itself in a failed test.
inline void PrintTo(const status& s, std::ostream* out) { *out << s.describe(); }
inline void PrintTo(code c, std::ostream* out) {
  *out << to_string(c) << " (" << static_cast<int>(c) << ")";
}

namespace testing_support {

inline status as_status(const status& s) { return s; }
template <class T>
status as_status(const result<T>& r) {
  return r.error();
}

} // namespace testing_support

/// A status, or a result, that is a success.
MATCHER(IsOk, negation ? "is a failure" : "is a success") {
  const auto s = testing_support::as_status(arg);
  if (!s.ok()) *result_listener << s.describe();
  return s.ok();
}

/// A status, or a result, with this code.
MATCHER_P(HasCode, expected, "") {
  const auto s = testing_support::as_status(arg);
  *result_listener << (s.ok() ? "success" : s.describe());
  return s.code() == expected;
}

/// A status whose message contains `text`.
MATCHER_P(SaysThat, text, "") {
  const auto s = testing_support::as_status(arg);
  *result_listener << s.describe();
  return s.describe().find(text) != std::string::npos;
}

} // namespace troupe
