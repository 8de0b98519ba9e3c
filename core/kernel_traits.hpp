#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <tuple>
#include <type_traits>

#include <gsl/span>

#include "core/access.hpp"
#include "core/block.hpp"
#include "core/device_span.hpp"

namespace troupe {

// -- parameters of a kernel ---------------------------------------------------

/// How a kernel's parameter type declares its access: `span<const T>` is read, `span<T>` is
/// written, anything else is a value that is copied. Standard and GSL spans both serve.
template <class P>
struct parameter {
  static constexpr bool is_span = false;
};

template <class T>
struct parameter<std::span<T>> {
  static constexpr bool is_span = true;
  using element = T;
};

template <class T>
struct parameter<gsl::span<T>> {
  static constexpr bool is_span = true;
  using element = T;
};

// -- arguments of a launch ----------------------------------------------------

/// An argument that stands for device memory: it can be viewed as a `device_span`.
template <class A>
concept device_memory = requires(const A& a) {
  { a.data() };
  { a.size() } -> std::convertible_to<std::size_t>;
  { a.context_id() } -> std::convertible_to<std::uint64_t>;
};

/// Makes the value that a kernel parameter of type `P` receives from the argument `a`.
template <class P, class A>
[[nodiscard]] P to_parameter(const A& a) {
  if constexpr (parameter<P>::is_span) {
    static_assert(device_memory<A>, "a span parameter of a kernel takes device memory: a buffer "
                                    "or a device_span, not host data");
    return P(a.data(), a.size());
  } else {
    static_assert(!device_memory<A>, "device memory reaches a kernel through a span parameter");
    return static_cast<P>(a);
  }
}

/// Reports the bytes behind a kernel parameter, if it is a span.
template <class P>
void report_access(const P& value, const access_sink& sink) {
  if constexpr (parameter<P>::is_span) {
    constexpr bool reads = std::is_const_v<typename parameter<P>::element>;
    sink({value.data(), value.size() * sizeof(typename parameter<P>::element),
          reads ? access_mode::read : access_mode::write});
  }
}

// -- signature of a kernel ----------------------------------------------------

namespace detail {

template <class... P>
struct parameter_list {};

template <class First, class... Rest>
struct signature_of {
  static constexpr bool takes_block = std::is_same_v<std::decay_t<First>, block>;
  using parameters = std::conditional_t<takes_block, parameter_list<std::decay_t<Rest>...>,
                                        parameter_list<std::decay_t<First>, std::decay_t<Rest>...>>;
};

template <class F>
struct callable : callable<decltype(&F::operator())> {};

template <class F>
struct callable<std::reference_wrapper<F>> : callable<F> {};
template <class R>
struct callable<R (*)()> {
  static constexpr bool takes_block = false;
  using parameters = parameter_list<>;
};
template <class R, class First, class... Rest>
struct callable<R (*)(First, Rest...)> : signature_of<First, Rest...> {};
template <class R, class... A>
struct callable<R (*)(A...) noexcept> : callable<R (*)(A...)> {};
template <class R, class C, class... A>
struct callable<R (C::*)(A...) const> : callable<R (*)(A...)> {};
template <class R, class C, class... A>
struct callable<R (C::*)(A...)> : callable<R (*)(A...)> {};
template <class R, class C, class... A>
struct callable<R (C::*)(A...) const noexcept> : callable<R (*)(A...)> {};
template <class R, class C, class... A>
struct callable<R (C::*)(A...) noexcept> : callable<R (*)(A...)> {};

template <class List>
struct tuple_of;
template <class... P>
struct tuple_of<parameter_list<P...>> {
  using type = std::tuple<P...>;
};

} // namespace detail

/// What a callable declares: whether it asks for its block, and its other parameters by value.
/// The callable must have one call operator (a generic lambda has many and is refused).
template <class F>
struct kernel_traits {
  static constexpr bool takes_block = detail::callable<std::decay_t<F>>::takes_block;
  using parameters = typename detail::tuple_of<
      typename detail::callable<std::decay_t<F>>::parameters>::type;
  static constexpr std::size_t arity = std::tuple_size_v<parameters>;
};

} // namespace troupe
