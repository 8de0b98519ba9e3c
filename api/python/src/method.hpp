#pragma once

#include <utility>

namespace troupe::python {

/// A member function as a function of a reference to its object. pybind11 would pass null for None
/// to a member function, where it refuses None for a reference.
template <class C, class R, class... A>
[[nodiscard]] auto method(R (C::*member)(A...)) {
  return [member](C& self, A... a) -> R { return (self.*member)(std::forward<A>(a)...); };
}

template <class C, class R, class... A>
[[nodiscard]] auto method(R (C::*member)(A...) const) {
  return [member](const C& self, A... a) -> R { return (self.*member)(std::forward<A>(a)...); };
}

template <class C, class R, class... A>
[[nodiscard]] auto method(R (C::*member)(A...) noexcept) {
  return [member](C& self, A... a) -> R { return (self.*member)(std::forward<A>(a)...); };
}

template <class C, class R, class... A>
[[nodiscard]] auto method(R (C::*member)(A...) const noexcept) {
  return [member](const C& self, A... a) -> R { return (self.*member)(std::forward<A>(a)...); };
}

} // namespace troupe::python
