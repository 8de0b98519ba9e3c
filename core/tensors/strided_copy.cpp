#include "core/tensors/strided_copy.hpp"

#include <cstdint>
#include <cstring>

#include <gsl/gsl>

namespace troupe {
namespace {

template <std::size_t Bytes>
void walk(const strided_copy& way, std::size_t axis, const std::byte* source, std::byte* target) {
  const auto from = way.from[axis] * static_cast<std::int64_t>(Bytes);
  const auto to = way.to[axis] * static_cast<std::int64_t>(Bytes);
  const bool innermost = axis + 1 == way.shape.size();
  for (std::int64_t i = 0; i < way.shape[axis]; ++i, source += from, target += to) {
    if (innermost) {
      std::memcpy(target, source, Bytes);
    } else {
      walk<Bytes>(way, axis + 1, source, target);
    }
  }
}

} // namespace

void strided_copy::operator()(const std::byte* source, std::byte* target) const {
  switch (element_bytes) {
    case 1: return walk<1>(*this, 0, source, target);
    case 2: return walk<2>(*this, 0, source, target);
    default: Expects(element_bytes == 4); return walk<4>(*this, 0, source, target);
  }
}

dimensions broadcast_steps(const tensor_layout& layout, const dimensions& shape) {
  Expects(layout.shape.size() <= shape.size());
  dimensions steps(shape.size(), 0);
  const auto ahead = shape.size() - layout.shape.size();
  for (std::size_t i = 0; i < layout.shape.size(); ++i) {
    if (layout.shape[i] != 1) steps[ahead + i] = layout.strides[i];
  }
  return steps;
}

} // namespace troupe
