#pragma once

#include <array>
#include <cstdint>
#include <utility>

#include "troupe/operators/run_operator.hpp"

/// The operators by name: each submits to `s`, takes its output and scratch memory from `memory`,
/// and returns the output at once, for later commands of `s`. All are `apply_operator` with the
/// attributes written out; shapes, failures and threads are told there and at `operator_signature`.
namespace troupe::ops {

struct conv2d_options {
  dimensions strides = {1, 1};  ///< down, right
  dimensions padding = {0, 0};  ///< or top, left, bottom, right
  dimensions dilation = {1, 1}; ///< 1 for neighbours
  std::int64_t groups = 1;
};

struct pool_options {
  dimensions kernel;           ///< height, width
  dimensions strides = {};     ///< the kernel, if empty
  dimensions padding = {0, 0}; ///< or top, left, bottom, right
};

namespace detail {

template <class... Inputs>
[[nodiscard]] result<tensor> apply(stream& s, const pool& memory, operator_description what,
                                   call_site site, const Inputs&... inputs) {
  return apply_operator(s, memory, std::move(what), std::array{inputs...}, site);
}

inline operator_description windowed(const char* name, const pool_options& o) {
  operator_description made{name, {{"kernel", o.kernel}, {"padding", o.padding}}, {}, {}};
  if (!o.strides.empty()) made.attributes["strides"] = o.strides;
  return made;
}

inline operator_description convolution(const conv2d_options& o) {
  return {"conv2d",
          {{"strides", o.strides},
           {"padding", o.padding},
           {"dilation", o.dilation},
           {"groups", o.groups}},
          {},
          {}};
}

} // namespace detail

/// `input` [n, c, h, w], `weight` [o, c / groups, kh, kw].
[[nodiscard]] inline result<tensor> conv2d(stream& s, const pool& memory, const tensor& input,
                                           const tensor& weight,
                                           const conv2d_options& options = {},
                                           call_site site = call_site::here()) {
  return detail::apply(s, memory, detail::convolution(options), site, input, weight);
}

/// The same with a `bias` [o].
[[nodiscard]] inline result<tensor> conv2d(stream& s, const pool& memory, const tensor& input,
                                           const tensor& weight, const tensor& bias,
                                           const conv2d_options& options = {},
                                           call_site site = call_site::here()) {
  return detail::apply(s, memory, detail::convolution(options), site, input, weight, bias);
}

[[nodiscard]] inline result<tensor> max_pool(stream& s, const pool& memory, const tensor& input,
                                             const pool_options& options,
                                             call_site site = call_site::here()) {
  return detail::apply(s, memory, detail::windowed("max_pool", options), site, input);
}

/// Padding counts as nothing, unless `count_padding`: then as zeros.
[[nodiscard]] inline result<tensor> average_pool(stream& s, const pool& memory,
                                                 const tensor& input, const pool_options& options,
                                                 bool count_padding = false,
                                                 call_site site = call_site::here()) {
  auto what = detail::windowed("average_pool", options);
  what.attributes["count_padding"] = std::int64_t{count_padding ? 1 : 0};
  return detail::apply(s, memory, std::move(what), site, input);
}

/// [..., m, k] times [..., k, n].
[[nodiscard]] inline result<tensor> matmul(stream& s, const pool& memory, const tensor& left,
                                           const tensor& right,
                                           call_site site = call_site::here()) {
  return detail::apply(s, memory, {"matmul", {}, {}, {}}, site, left, right);
}

/// Both sides broadcast, as in numpy; so do those of `sub`, `mul` and `div`.
[[nodiscard]] inline result<tensor> add(stream& s, const pool& memory, const tensor& left,
                                        const tensor& right,
                                        call_site site = call_site::here()) {
  return detail::apply(s, memory, {"add", {}, {}, {}}, site, left, right);
}

[[nodiscard]] inline result<tensor> sub(stream& s, const pool& memory, const tensor& left,
                                        const tensor& right,
                                        call_site site = call_site::here()) {
  return detail::apply(s, memory, {"sub", {}, {}, {}}, site, left, right);
}

[[nodiscard]] inline result<tensor> mul(stream& s, const pool& memory, const tensor& left,
                                        const tensor& right,
                                        call_site site = call_site::here()) {
  return detail::apply(s, memory, {"mul", {}, {}, {}}, site, left, right);
}

[[nodiscard]] inline result<tensor> div(stream& s, const pool& memory, const tensor& left,
                                        const tensor& right,
                                        call_site site = call_site::here()) {
  return detail::apply(s, memory, {"div", {}, {}, {}}, site, left, right);
}

/// `bias` is added along `axis`, of whose length it is.
[[nodiscard]] inline result<tensor> bias_add(stream& s, const pool& memory, const tensor& input,
                                             const tensor& bias, std::int64_t axis = 1,
                                             call_site site = call_site::here()) {
  return detail::apply(s, memory, {"bias_add", {{"axis", axis}}, {}, {}}, site, input, bias);
}

[[nodiscard]] inline result<tensor> relu(stream& s, const pool& memory, const tensor& input,
                                         call_site site = call_site::here()) {
  return detail::apply(s, memory, {"relu", {}, {}, {}}, site, input);
}

[[nodiscard]] inline result<tensor> gelu(stream& s, const pool& memory, const tensor& input,
                                         call_site site = call_site::here()) {
  return detail::apply(s, memory, {"gelu", {}, {}, {}}, site, input);
}

[[nodiscard]] inline result<tensor> silu(stream& s, const pool& memory, const tensor& input,
                                         call_site site = call_site::here()) {
  return detail::apply(s, memory, {"silu", {}, {}, {}}, site, input);
}

[[nodiscard]] inline result<tensor> sigmoid(stream& s, const pool& memory, const tensor& input,
                                            call_site site = call_site::here()) {
  return detail::apply(s, memory, {"sigmoid", {}, {}, {}}, site, input);
}

[[nodiscard]] inline result<tensor> tanh(stream& s, const pool& memory, const tensor& input,
                                         call_site site = call_site::here()) {
  return detail::apply(s, memory, {"tanh", {}, {}, {}}, site, input);
}

[[nodiscard]] inline result<tensor> softmax(stream& s, const pool& memory, const tensor& input,
                                            std::int64_t axis = -1,
                                            call_site site = call_site::here()) {
  return detail::apply(s, memory, {"softmax", {{"axis", axis}}, {}, {}}, site, input);
}

/// Dimension i of the output is that of `input`'s `permutation[i]`.
[[nodiscard]] inline result<tensor> transpose(stream& s, const pool& memory, const tensor& input,
                                              dimensions permutation,
                                              call_site site = call_site::here()) {
  return detail::apply(s, memory,
                       {"transpose", {{"permutation", std::move(permutation)}}, {}, {}}, site,
                       input);
}

/// One length of `shape` may be -1: what remains.
[[nodiscard]] inline result<tensor> reshape(stream& s, const pool& memory, const tensor& input,
                                            dimensions shape,
                                            call_site site = call_site::here()) {
  return detail::apply(s, memory, {"reshape", {{"shape", std::move(shape)}}, {}, {}}, site,
                       input);
}

} // namespace troupe::ops
