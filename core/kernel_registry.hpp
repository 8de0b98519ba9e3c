#pragma once

#include <array>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <typeinfo>
#include <utility>
#include <vector>

#include "core/kernel_closure.hpp"

namespace troupe {

/// What a registered kernel wants in one place of its parameter list.
struct parameter_type {
  enum class kind : unsigned char { read_span, write_span, value };

  kind what = kind::value;
  const std::type_info* type = nullptr; ///< of the element or the value
  std::size_t bytes = 0;                ///< of the element or the value

  /// "span<const float>", "span<float>" or "float".
  [[nodiscard]] std::string spelled() const;
};

/// One argument of a launch by name, as raw data: a span's place and length, or a value's bytes.
struct kernel_argument {
  static constexpr std::size_t value_bytes_max = 16;

  struct range {
    void* data;
    std::size_t size; ///< elements
  };

  union {
    range span;
    std::byte value[value_bytes_max];
  };
};

/// A kernel that can be launched by name. Immutable once registered.
struct kernel_entry {
  std::string name;
  std::vector<parameter_type> parameters;
  std::function<status(const block&, const kernel_argument*)> invoke;
};

/// The kernels of one runtime by name. Any thread.
class kernel_registry {
public:
  /// Failures: 507028 when the name is taken, 107000 when it is empty.
  status add(kernel_entry entry);

  /// Failures: 507027, naming what is asked for, when there is none of that name.
  [[nodiscard]] result<std::shared_ptr<const kernel_entry>> find(std::string_view name) const;

private:
  mutable std::mutex guard_;
  std::map<std::string, std::shared_ptr<const kernel_entry>, std::less<>> entries_;
};

// -- registering --------------------------------------------------------------

template <class P>
[[nodiscard]] parameter_type describe_parameter() {
  if constexpr (parameter<P>::is_span) {
    using element = typename parameter<P>::element;
    return {std::is_const_v<element> ? parameter_type::kind::read_span
                                     : parameter_type::kind::write_span,
            &typeid(std::remove_const_t<element>), sizeof(element)};
  } else {
    static_assert(std::is_trivially_copyable_v<P> && sizeof(P) <= kernel_argument::value_bytes_max,
                  "a value parameter of a registered kernel is at most 16 plain bytes");
    return {parameter_type::kind::value, &typeid(P), sizeof(P)};
  }
}

template <class P>
[[nodiscard]] P read_argument(const kernel_argument& from) {
  if constexpr (parameter<P>::is_span) {
    return P(static_cast<typename parameter<P>::element*>(from.span.data), from.span.size);
  } else {
    P made;
    std::memcpy(&made, from.value, sizeof(P));
    return made;
  }
}

/// The entry for callable `f` under `name`. The callable is shared by all launches and blocks, so
/// it must be callable from several threads at once.
template <class F>
[[nodiscard]] kernel_entry make_kernel_entry(std::string name, F f) {
  using parameters = typename kernel_traits<F>::parameters;
  kernel_entry made;
  made.name = std::move(name);
  [&]<std::size_t... I>(std::index_sequence<I...>) {
    made.parameters = {describe_parameter<std::tuple_element_t<I, parameters>>()...};
    made.invoke = [f = std::move(f)](const block& b, const kernel_argument* from) mutable {
      kernel_closure<std::reference_wrapper<F>> call{
          std::ref(f), parameters(read_argument<std::tuple_element_t<I, parameters>>(from[I])...)};
      return decltype(call)::invoke(&call, b);
    };
  }(std::make_index_sequence<std::tuple_size_v<parameters>>{});
  return made;
}

// -- launching ----------------------------------------------------------------

template <class A>
[[nodiscard]] parameter_type describe_argument(const A& a) {
  if constexpr (device_memory<A>) {
    using element = std::remove_pointer_t<decltype(a.data())>;
    return {std::is_const_v<element> ? parameter_type::kind::read_span
                                     : parameter_type::kind::write_span,
            &typeid(std::remove_const_t<element>), sizeof(element)};
  } else {
    static_assert(std::is_trivially_copyable_v<A> && sizeof(A) <= kernel_argument::value_bytes_max,
                  "a value passed to a kernel by name is at most 16 plain bytes");
    return {parameter_type::kind::value, &typeid(A), sizeof(A)};
  }
}

template <class A>
[[nodiscard]] kernel_argument write_argument(const A& a) {
  kernel_argument made{};
  if constexpr (device_memory<A>) {
    made.span.data = const_cast<void*>(static_cast<const void*>(a.data()));
    made.span.size = a.size();
  } else {
    std::memcpy(made.value, &a, sizeof(A));
  }
  return made;
}

/// Whether `entry` can be called with `given`. Failure 107000 names the kernel, the place, what it
/// takes and what was passed. Memory that may be written serves where reading is asked for.
[[nodiscard]] status check_arguments(const kernel_entry& entry,
                                     const std::vector<parameter_type>& given);

/// Payload of a launch by name.
template <std::size_t N>
struct named_call {
  std::shared_ptr<const kernel_entry> entry;
  std::array<kernel_argument, N> arguments;

  static status invoke(void* payload, const block& b) {
    auto& self = *static_cast<named_call*>(payload);
    return self.entry->invoke(b, self.arguments.data());
  }

  static void ranges(const void* payload, const access_sink& sink) {
    const auto& self = *static_cast<const named_call*>(payload);
    for (std::size_t i = 0; i < N; ++i) {
      const auto& wanted = self.entry->parameters[i];
      if (wanted.what == parameter_type::kind::value) continue;
      sink({self.arguments[i].span.data, self.arguments[i].span.size * wanted.bytes,
            wanted.what == parameter_type::kind::read_span ? access_mode::read
                                                           : access_mode::write});
    }
  }

  static constexpr operation ops = make_runnable<named_call>();
};

/// The command that launches `entry` with `args`, or why it cannot be.
template <class... Args>
[[nodiscard]] result<command> make_named_command(const task& t,
                                                 std::shared_ptr<const kernel_entry> entry,
                                                 const Args&... args) {
  if (auto s = check_arguments(*entry, {describe_argument(args)...}); !s.ok()) return s;
  command made(command_kind::kernel, t.name, t.site);
  made.blocks = t.blocks;
  using call = named_call<sizeof...(Args)>;
  emplace_payload<call>(made, call{std::move(entry), {write_argument(args)...}});
  return made;
}

} // namespace troupe
