#pragma once

#include <chrono>

namespace troupe {

/// A limit on waiting, in milliseconds. It describes the waiter, not the work: when it expires, the
/// work goes on. Zero and negative values other than `forever` are refused with 107000.
using timeout = std::chrono::milliseconds;

/// Wait without a limit.
inline constexpr timeout forever{-1};

} // namespace troupe
