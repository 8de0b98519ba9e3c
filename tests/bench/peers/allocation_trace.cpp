#include "tests/bench/peers/allocation_trace.hpp"

namespace troupe::bench {

std::vector<std::size_t> digits_allocations() {
  const digits_work work(1);
  std::vector<std::size_t> sizes;
  for (const auto& tensor : work.net->tensors())
    sizes.push_back(tensor.floats * sizeof(float));
  return sizes;
}

}  // namespace troupe::bench
