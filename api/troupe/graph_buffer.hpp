#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <type_traits>
#include <vector>

#include "core/device_span.hpp"
#include "core/kernel_traits.hpp"

namespace troupe {

/// `count` elements of memory that only the nodes of one graph use, from the first that names it
/// to the last (or to the node that frees it): a plain value, made by `graph::allocate`. Where it
/// lies is decided when the graph is instantiated, so it has no address. Before a node has written
/// it the contents are unspecified, in each replay again.
template <class T>
struct graph_buffer {
  using element_type = T;

  std::uint64_t graph = 0; ///< id of the graph
  std::uint32_t range = 0;
  std::size_t count = 0;
};

namespace detail {

template <class T>
inline constexpr bool is_graph_buffer = false;
template <class T>
inline constexpr bool is_graph_buffer<graph_buffer<T>> = true;

/// Private memory that an argument names.
struct named_private {
  std::uint64_t graph = 0;
  std::uint32_t range = 0;
};

template <class A>
[[nodiscard]] std::optional<named_private> private_of(const A& a) {
  if constexpr (is_graph_buffer<A>) {
    return named_private{a.graph, a.range};
  } else {
    return std::nullopt;
  }
}

/// An argument as a node keeps it until its work is made.
template <class A>
[[nodiscard]] auto kept(const A& a) {
  if constexpr (device_memory<A>) {
    return device_span<std::remove_pointer_t<decltype(a.data())>>(a.data(), a.size(),
                                                                  a.context_id());
  } else {
    return std::decay_t<A>(a);
  }
}

/// An argument as work takes it, with private memory at its address; null while `at` is empty.
template <class A>
[[nodiscard]] decltype(auto) placed(const A& a, const std::vector<std::byte*>& at) {
  if constexpr (is_graph_buffer<A>) {
    using element = typename A::element_type;
    auto* data = at.empty() ? nullptr : reinterpret_cast<element*>(at[a.range]);
    return device_span<element>(data, a.count, 0);
  } else {
    return (a);
  }
}

} // namespace detail
} // namespace troupe
