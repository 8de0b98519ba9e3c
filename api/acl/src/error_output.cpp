#include "api/acl/src/error_output.hpp"

#include <unistd.h>

namespace troupe::acl {

void write_error_output(std::string_view text) noexcept {
  while (!text.empty()) {
    const auto written = ::write(STDERR_FILENO, text.data(), text.size());
    if (written <= 0) return;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
}

}  // namespace troupe::acl
