#pragma once

#include <cstdint>
#include <vector>

namespace troupe::digits {

/// What classifying a set of images gave, and how long it took.
struct answers {
  std::vector<std::uint8_t> predictions; ///< one class per image
  std::vector<double> latencies_ms;      ///< one per batch, from its pixels to its classes
  double seconds = 0;                    ///< wall time of all batches
};

} // namespace troupe::digits
