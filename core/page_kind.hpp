#pragma once

namespace troupe {

/// Which pages a block of device memory lies on. Huge ones have 2 MiB: the block begins at a multiple
/// of that and occupies whole ones.
enum class page_kind : unsigned char {
  small,
  huge_first, ///< huge ones if there are enough in a row, else small ones
  huge_only,
};

} // namespace troupe
