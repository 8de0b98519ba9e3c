#pragma once

#include <functional>

#include "core/command.hpp"

namespace troupe {

/// A host callback as a command's payload.
struct host_function {
  std::function<void()> function;

  static status invoke(void* payload, const block&) {
    static_cast<host_function*>(payload)->function();
    return {};
  }
};

inline constexpr operation host_function_ops = [] {
  auto made = carried<host_function>::make();
  made.invoke = &host_function::invoke;
  return made;
}();

} // namespace troupe
