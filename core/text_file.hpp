#pragma once

#include <string>

#include "core/status.hpp"

namespace troupe {

/// The text of a file of at most 1 MiB, which is enough for any settings and keeps a wrong path
/// from filling the memory. Failure `invalid_file`, with path and reason. Blocks on the disk.
[[nodiscard]] result<std::string> read_text_file(const std::string& path);

} // namespace troupe
