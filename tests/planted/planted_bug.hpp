#pragma once

namespace troupe {

/// The planted bug that the library built around this header has, by its place in the table from 1;
/// 0 for none. Set before a run, by the thread that begins it, and not changed during it.
inline int selected_bug = 0;

[[nodiscard]] inline int planted_bug() noexcept { return selected_bug; }

} // namespace troupe
