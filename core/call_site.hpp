#pragma once

#include <cstdint>

namespace troupe {

/// A place in the user's source. Default arguments of `here` are evaluated at the call, which is
/// how a launch knows its line without a macro (clang 14 has no `std::source_location`).
struct call_site {
  const char* file = "";
  std::uint32_t line = 0;

  [[nodiscard]] static constexpr call_site here(const char* file = __builtin_FILE(),
                                                std::uint32_t line = __builtin_LINE()) noexcept {
    return {file, line};
  }
};

} // namespace troupe
