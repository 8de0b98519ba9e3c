#include <array>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <string>

#include <acl/acl.h>

#include "api/acl/src/error_output.hpp"

namespace {

constexpr std::size_t line_bytes_max = 1024;

// Lines from this level on are written: a number from TROUPE_ACL_LOG, 0 to 3; errors without it.
int least_level() {
  static const int chosen = [] {
    const auto* const asked = std::getenv("TROUPE_ACL_LOG");
    const bool digit = asked != nullptr && asked[0] >= '0' && asked[0] <= '3' && asked[1] == '\0';
    return digit ? asked[0] - '0' : static_cast<int>(ACL_ERROR);
  }();
  return chosen;
}

const char* named(aclLogLevel level) {
  constexpr std::array names{"DEBUG", "INFO", "WARNING", "ERROR"};
  return names[static_cast<std::size_t>(level)];
}

}  // namespace

void aclAppLog(aclLogLevel logLevel, const char* func, const char* file, uint32_t line,
               const char* fmt, ...) {
  if (fmt == nullptr || logLevel < ACL_DEBUG || logLevel > ACL_ERROR) return;
  if (static_cast<int>(logLevel) < least_level()) return;
  std::array<char, line_bytes_max> text{};
  va_list arguments;
  va_start(arguments, fmt);
  const int wanted = std::vsnprintf(text.data(), text.size(), fmt, arguments);
  va_end(arguments);
  if (wanted < 0) return;
  try {
    const auto written = std::string("[") + named(logLevel) + "] " + (file != nullptr ? file : "") +
                         ":" + std::to_string(line) + " " + (func != nullptr ? func : "") + ": " +
                         text.data() + "\n";
    troupe::acl::write_error_output(written);
  } catch (const std::bad_alloc&) {
    // A line that finds no memory is lost.
  }
}
