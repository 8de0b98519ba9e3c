#pragma once

#include <string_view>

namespace troupe::acl {

/// Writes `text` to the standard error output as one piece where the system allows it. Any thread.
void write_error_output(std::string_view text) noexcept;

}  // namespace troupe::acl
