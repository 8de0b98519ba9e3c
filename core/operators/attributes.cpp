#include "core/operators/attributes.hpp"

#include <algorithm>
#include <cmath>

namespace troupe::operators {
namespace {

constexpr std::int64_t size_max = 65536;

const operator_attribute* find(const operator_description& d, std::string_view name) {
  const auto at = d.attributes.find(name);
  return at == d.attributes.end() ? nullptr : &at->second;
}

[[noreturn]] void refuse_attribute(const operator_description& d, std::string_view name,
                                   const std::string& why) {
  refuse(d, "attribute '" + std::string(name) + "' " + why);
}

} // namespace

void refuse(const operator_description& d, const std::string& why) {
  throw error(code::invalid_parameter, "operator '" + d.name + "': " + why);
}

std::int64_t whole(const operator_description& d, std::string_view name, std::int64_t otherwise) {
  const auto* found = find(d, name);
  if (found == nullptr) return otherwise;
  const auto* value = std::get_if<std::int64_t>(found);
  if (value == nullptr) refuse_attribute(d, name, "must be a whole number");
  return *value;
}

double number(const operator_description& d, std::string_view name, double otherwise) {
  const auto* found = find(d, name);
  if (found == nullptr) return otherwise;
  const auto* value = std::get_if<double>(found);
  if (value == nullptr || !std::isfinite(*value)) refuse_attribute(d, name, "must be a number");
  return *value;
}

dimensions list(const operator_description& d, std::string_view name, const dimensions& otherwise) {
  const auto* found = find(d, name);
  if (found == nullptr) {
    if (otherwise.empty()) refuse_attribute(d, name, "is missing");
    return otherwise;
  }
  const auto* value = std::get_if<dimensions>(found);
  if (value == nullptr) refuse_attribute(d, name, "must be a list of whole numbers");
  return *value;
}

dimensions sizes(const operator_description& d, std::string_view name, std::size_t count,
                 std::int64_t least, const dimensions& otherwise) {
  auto values = list(d, name, otherwise);
  const bool fits = std::ranges::all_of(values, [least](auto v) {
    return v >= least && v <= size_max;
  });
  if (values.size() != count || !fits) {
    refuse_attribute(d, name, "is " + to_text(values) + "; it takes " + std::to_string(count) +
                                  " numbers from " + std::to_string(least) + " to " +
                                  std::to_string(size_max));
  }
  return values;
}

std::size_t axis_of(const operator_description& d, std::string_view name, std::int64_t axis) {
  const auto& shape = d.inputs.front().shape;
  const auto rank = static_cast<std::int64_t>(shape.size());
  if (axis < -rank || axis >= rank) {
    refuse_attribute(d, name, "names dimension " + std::to_string(axis) + "; the input has shape " +
                                  to_text(shape));
  }
  return static_cast<std::size_t>(axis < 0 ? axis + rank : axis);
}

window window_of(const operator_description& d) {
  window made;
  if (d.name == "conv2d") {
    const auto& weight = d.inputs.at(1).shape;
    made.kernel = {weight.at(2), weight.at(3)};
    made.strides = sizes(d, "strides", 2, 1, {1, 1});
    made.dilation = sizes(d, "dilation", 2, 1, {1, 1});
  } else {
    made.kernel = sizes(d, "kernel", 2, 1);
    made.strides = sizes(d, "strides", 2, 1, made.kernel);
    made.dilation = {1, 1};
  }
  made.padding = list(d, "padding", {0, 0});
  if (made.padding.size() == 2) {
    made.padding = {made.padding[0], made.padding[1], made.padding[0], made.padding[1]};
  } else {
    made.padding = sizes(d, "padding", 4, 0);
  }
  const bool fits = std::ranges::all_of(made.padding, [](auto p) { return p >= 0 && p <= size_max; });
  if (!fits) {
    refuse_attribute(d, "padding", "is " + to_text(made.padding) + "; each is from 0 to " +
                                       std::to_string(size_max));
  }
  return made;
}

std::vector<bool> reduced_axes(const operator_description& d) {
  const auto rank = d.inputs.front().shape.size();
  if (d.attributes.find("axes") == d.attributes.end()) return std::vector<bool>(rank, true);
  std::vector<bool> reduced(rank, false);
  for (const auto axis : list(d, "axes")) reduced[axis_of(d, "axes", axis)] = true;
  return reduced;
}

} // namespace troupe::operators
