#include "examples/digits/pooled_batch.hpp"

#include <utility>

namespace troupe::digits {

pool_buffer<float> submit_pooled(const device_network& net, const pool& memory, stream& s,
                                 std::span<const float> input) {
  auto current = memory.allocate<float>(s, input.size()).value();
  s.copy(current, input).or_throw();
  for (std::size_t index = 0; index < net.size(); ++index) {
    auto next = memory.allocate<float>(s, net.tensors()[index + 1].floats).value();
    net.launch(s, index, current.span(), next.span()).or_throw();
    current = std::move(next);
  }
  return current;
}

} // namespace troupe::digits
