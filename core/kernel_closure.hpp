#pragma once

#include <cstddef>
#include <memory>
#include <new>
#include <tuple>
#include <type_traits>
#include <utility>

#include "core/command.hpp"
#include "core/kernel_traits.hpp"
#include "core/task.hpp"

namespace troupe {

/// A callable with the arguments of one launch. Each block gets the spans and its own copy of the
/// values, so that blocks running in parallel share nothing but device memory.
template <class F>
struct kernel_closure {
  using parameters = typename kernel_traits<F>::parameters;

  F function;
  parameters arguments;

  static status invoke(void* payload, const block& b) {
    auto& self = *static_cast<kernel_closure*>(payload);
    return std::apply([&](const auto&... a) { return self.call(b, a...); }, self.arguments);
  }

  static void ranges(const void* payload, const access_sink& sink) {
    const auto& self = *static_cast<const kernel_closure*>(payload);
    std::apply([&](const auto&... a) { (report_access(a, sink), ...); }, self.arguments);
  }

  static constexpr operation ops = make_runnable<kernel_closure>();

private:
  template <class... A>
  status call(const block& b, const A&... a) {
    if constexpr (kernel_traits<F>::takes_block) {
      return finish([&]() -> decltype(auto) { return function(b, A(a)...); });
    } else {
      return finish([&]() -> decltype(auto) { return function(A(a)...); });
    }
  }

  template <class Call>
  static status finish(Call&& run) {
    if constexpr (std::is_same_v<decltype(run()), status>) {
      return run();
    } else {
      static_assert(std::is_void_v<decltype(run())>, "a kernel returns nothing or a status");
      run();
      return {};
    }
  }
};

/// A payload too large for a command, kept on the heap behind one pointer.
template <class Payload>
struct boxed {
  std::unique_ptr<Payload> content;

  static status invoke(void* payload, const block& b) {
    return Payload::ops.invoke(static_cast<boxed*>(payload)->content.get(), b);
  }
  static void ranges(const void* payload, const access_sink& sink) {
    Payload::ops.ranges(static_cast<const boxed*>(payload)->content.get(), sink);
  }
  static constexpr operation ops = make_runnable<boxed>();
};

/// Makes a `Payload` of `parts` within `target` if it fits, else boxed. Where it fits it is made in
/// its place: a copy of what has just been written costs more than the writing.
template <class Payload, class... Parts>
void emplace_payload(command& target, Parts&&... parts) {
  if constexpr (sizeof(Payload) <= command::payload_bytes_max && alignof(Payload) <= 16 &&
                std::is_nothrow_move_constructible_v<Payload>) {
    target.emplace<Payload>(Payload::ops, std::forward<Parts>(parts)...);
  } else {
    target.emplace<boxed<Payload>>(
        boxed<Payload>::ops, std::unique_ptr<Payload>(new Payload{std::forward<Parts>(parts)...}));
  }
}

/// The command that launches `f` with `args`, not yet numbered. Any thread.
template <class F, class... Args>
[[nodiscard]] command make_kernel_command(const task& t, F&& f, const Args&... args) {
  using function = std::decay_t<F>;
  using parameters = typename kernel_traits<function>::parameters;
  static_assert(sizeof...(Args) == std::tuple_size_v<parameters>,
                "the launch passes another number of arguments than the kernel takes");
  command made(command_kind::kernel, t.name, t.site);
  made.blocks = t.blocks;
  [&]<std::size_t... I>(std::index_sequence<I...>) {
    emplace_payload<kernel_closure<function>>(
        made, std::forward<F>(f),
        parameters(to_parameter<std::tuple_element_t<I, parameters>>(args)...));
  }(std::index_sequence_for<Args...>{});
  return made;
}

} // namespace troupe
