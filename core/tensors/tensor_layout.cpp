#include "core/tensors/tensor_layout.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace troupe {
namespace {

status refused(const std::string& what) { return make_status(code::invalid_parameter, what); }

status check_shape(const dimensions& shape) {
  if (shape.empty() || shape.size() > tensor_rank_max) {
    return refused("a tensor of shape " + to_text(shape) + " has " + std::to_string(shape.size()) +
                   " dimensions; 1 to " + std::to_string(tensor_rank_max) + " are allowed");
  }
  std::int64_t elements = 1;
  for (const auto length : shape) {
    if (length < 1 || length > tensor_elements_max / elements) {
      return refused("a tensor of shape " + to_text(shape) +
                     ": each length must be at least 1, and all elements at most " +
                     std::to_string(tensor_elements_max));
    }
    elements *= length;
  }
  return {};
}

// Walks the dimensions from the closest: each step must reach over all that lies within.
status check_strides(const dimensions& shape, const dimensions& strides) {
  const auto about = "a tensor of shape " + to_text(shape) + " and strides " + to_text(strides);
  if (strides.size() != shape.size()) return refused(about + ": one stride per dimension is needed");
  std::vector<std::size_t> order(shape.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t i) {
    return std::pair(strides[i], shape[i]);
  });
  std::int64_t extent = 1;
  for (const auto i : order) {
    if (strides[i] < 1 || strides[i] > tensor_elements_max) {
      return refused(about + ": strides are from 1 to " + std::to_string(tensor_elements_max));
    }
    if (shape[i] == 1) continue;
    if (strides[i] < extent) return refused(about + " has two elements in one place");
    if (shape[i] - 1 > (tensor_elements_max - extent) / strides[i]) {
      return refused(about + " reaches over more than " + std::to_string(tensor_elements_max) +
                     " elements");
    }
    extent += (shape[i] - 1) * strides[i];
  }
  return {};
}

} // namespace

std::string to_text(const dimensions& values) {
  std::string text = "[";
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (i != 0) text += ", ";
    text += std::to_string(values[i]);
  }
  return text + "]";
}

dimensions row_major(const dimensions& shape) {
  dimensions strides(shape.size(), 1);
  for (auto i = shape.size(); i > 1; --i) strides[i - 2] = strides[i - 1] * shape[i - 1];
  return strides;
}

dimensions dense_as(const dimensions& shape, const dimensions& like, const dimensions& steps) {
  std::vector<std::size_t> order(shape.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  // Of equal steps that of a dimension of length 1 says nothing: it lies within.
  std::ranges::stable_sort(order, {}, [&](std::size_t i) {
    return std::pair(-steps[i], like[i] == 1);
  });
  dimensions made(shape.size(), 1);
  std::int64_t extent = 1;
  for (auto i = order.rbegin(); i != order.rend(); ++i) {
    made[*i] = extent;
    extent *= shape[*i];
  }
  return made;
}

result<tensor_layout> tensor_layout::make(element_type type, dimensions shape, dimensions strides,
                                          tensor_lifetime lifetime) {
  if (auto s = check_shape(shape); !s.ok()) return s;
  if (strides.empty()) strides = row_major(shape);
  if (auto s = check_strides(shape, strides); !s.ok()) return s;
  return tensor_layout{type, std::move(shape), std::move(strides), lifetime};
}

result<tensor_layout> tensor_layout::channels_last(element_type type, dimensions shape,
                                                   tensor_lifetime lifetime) {
  if (shape.size() != 4) {
    return refused("channels_last needs [batch, channels, height, width], not " + to_text(shape));
  }
  if (auto s = check_shape(shape); !s.ok()) return s;
  const auto c = shape[1];
  const auto row = shape[3] * c;
  dimensions strides{shape[2] * row, 1, row, c};
  return make(type, std::move(shape), std::move(strides), lifetime);
}

std::int64_t tensor_layout::elements() const noexcept {
  std::int64_t count = 1;
  for (const auto length : shape) count *= length;
  return count;
}

std::size_t tensor_layout::bytes() const noexcept {
  std::int64_t last = 0;
  for (std::size_t i = 0; i < shape.size(); ++i) last += (shape[i] - 1) * strides[i];
  return (static_cast<std::size_t>(last) + 1) * bytes_of_element(type);
}

std::string to_text(const tensor_layout& layout) {
  auto text = std::string(to_string(layout.type)) + to_text(layout.shape);
  if (!layout.is_row_major()) text += " strides " + to_text(layout.strides);
  return text;
}

} // namespace troupe
