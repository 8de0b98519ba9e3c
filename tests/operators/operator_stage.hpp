#pragma once

#include <utility>
#include <vector>

#include "tests/support/stage.hpp"
#include "troupe/operators/tensor.hpp"

namespace troupe {

/// A stage with tensors of a pool: put there, taken back.
struct operator_results : stage_test {
  pool memory = ctx.create_pool().value();

  template <class T>
  tensor put(tensor_layout layout, const std::vector<T>& values) {
    auto made = tensor::make(memory, s, std::move(layout)).value();
    s.copy(made.elements<T>(), values).or_throw();
    return made;
  }

  tensor put(dimensions shape, const std::vector<float>& values) {
    return put(tensor_layout::make(element_type::f32, std::move(shape)).value(), values);
  }

  tensor zeros(element_type type, dimensions shape) {
    return zeros(tensor_layout::make(type, std::move(shape)).value());
  }

  tensor zeros(tensor_layout layout) {
    auto made = tensor::make(memory, s, std::move(layout)).value();
    s.fill_bytes(made.bytes(), 0).or_throw();
    return made;
  }

  template <class T = float>
  std::vector<T> take(const tensor& from) {
    const auto place = from.elements<T>();
    std::vector<T> values(place.size());
    s.copy(values, place).or_throw();
    s.synchronize().or_throw();
    return values;
  }
};

} // namespace troupe
