#pragma once

#include <vector>

#include "core/status.hpp"
#include "troupe/context.hpp"

namespace troupe {

/// The failures of tasks in `of` that nobody was told of: the first of each of its streams, and of
/// those that ended by their last handle, in the order in which they came. They count as told from
/// now on, with the later ones of the same streams. For who ends a context or its runtime and would
/// lose no failure: that drops what is pending, so there may be more later. Does not wait. Any
/// thread; empty for an empty handle, and still answers after the end of context or runtime.
[[nodiscard]] std::vector<status> take_unreported(const context& of);

} // namespace troupe
