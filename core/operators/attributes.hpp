#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "core/operators/operator_description.hpp"

/// Reading a description. All throw `troupe::error` with 107000, which names operator and attribute;
/// `infer_output` and `check_operator` turn that into a status.
namespace troupe::operators {

/// Fails: "operator 'conv2d': " and `why`.
[[noreturn]] void refuse(const operator_description& d, const std::string& why);

[[nodiscard]] std::int64_t whole(const operator_description& d, std::string_view name,
                                 std::int64_t otherwise);
[[nodiscard]] double number(const operator_description& d, std::string_view name,
                            double otherwise);

/// The list under `name`, or `otherwise`; a missing list is refused if that is empty.
[[nodiscard]] dimensions list(const operator_description& d, std::string_view name,
                              const dimensions& otherwise = {});

/// A list of `count` numbers, each from `least` to 65,536.
[[nodiscard]] dimensions sizes(const operator_description& d, std::string_view name,
                               std::size_t count, std::int64_t least,
                               const dimensions& otherwise = {});

/// A dimension by its number, from the end if negative.
[[nodiscard]] std::size_t axis_of(const operator_description& d, std::string_view name,
                                  std::int64_t axis);

/// How a window moves over an image: convolution and pooling.
struct window {
  dimensions kernel;   ///< height, width
  dimensions strides;  ///< down, right
  dimensions dilation; ///< 1 for neighbours
  dimensions padding;  ///< top, left, bottom, right
};

[[nodiscard]] window window_of(const operator_description& d);

/// The axes that a reduction takes away, one flag per dimension of its input.
[[nodiscard]] std::vector<bool> reduced_axes(const operator_description& d);

} // namespace troupe::operators
