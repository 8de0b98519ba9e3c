#include "api/src/operators/step_plan.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <utility>

#include <gsl/gsl>

#include "api/src/operators/plan_cache.hpp"
#include "core/operators/inference.hpp"

namespace troupe::operators {
namespace {

using dnnl::algorithm;

constexpr std::size_t alignment = 64;

std::size_t aligned(std::size_t bytes) { return (bytes + alignment - 1) / alignment * alignment; }

bool is_product(const program_step& step) {
  return step.what.name == "matmul" || step.what.name == "conv2d";
}

// -- one primitive ------------------------------------------------------------

struct post_row {
  std::string_view name;
  algorithm what;
  float alpha;
};

// As `plan.cpp` computes them when they stand alone.
constexpr std::array post_rows{post_row{"add", algorithm::binary_add, 0.F},
                               post_row{"bias_add", algorithm::binary_add, 0.F},
                               post_row{"div", algorithm::binary_div, 0.F},
                               post_row{"gelu", algorithm::eltwise_gelu_erf, 0.F},
                               post_row{"mul", algorithm::binary_mul, 0.F},
                               post_row{"relu", algorithm::eltwise_relu, 0.F},
                               post_row{"sigmoid", algorithm::eltwise_logistic, 0.F},
                               post_row{"silu", algorithm::eltwise_swish, 1.F},
                               post_row{"sub", algorithm::binary_sub, 0.F},
                               post_row{"tanh", algorithm::eltwise_tanh, 0.F}};

// A bias as a tensor that broadcasts to `output`.
tensor_layout along_axis(const tensor_layout& bias, std::int64_t axis,
                         const tensor_layout& output) {
  auto made = bias;
  made.shape.assign(output.shape.size(), 1);
  made.shape[gsl::narrow<std::size_t>(axis)] = bias.shape.front();
  made.strides.assign(output.shape.size(), bias.strides.front() * bias.shape.front());
  made.strides[gsl::narrow<std::size_t>(axis)] = bias.strides.front();
  return made;
}

// Whether `second` lies as the output does, or has one number per channel, or one: oneDNN 2.6 takes
// other ways to broadcast as well, and computes some of them wrong.
bool lies_simply(const tensor_layout& second, const numbered_step& s, const tensor_layout& output) {
  if (second.shape == output.shape) return second.strides == output.strides;
  const auto rank = output.shape.size();
  const auto channels = s.step.what.name == "matmul" ? rank - 1 : std::min<std::size_t>(1, rank - 1);
  const auto skipped = rank - second.shape.size();
  for (std::size_t i = 0; i < second.shape.size(); ++i) {
    if (i + skipped != channels && second.shape[i] != 1) return false;
  }
  return true;
}

// The same as a request to the primitive before it, or none.
std::optional<plan_request::post> as_request(const post_operation& post, const numbered_step& s,
                                             const tensor_layout& output) {
  const auto at = std::ranges::find(post_rows, std::string_view(post.name), &post_row::name);
  const bool swapped = post.reversed && (post.name == "sub" || post.name == "div");
  if (at == post_rows.end() || swapped || post.type != output.type) return std::nullopt;
  plan_request::post made{at->what, at->alpha};
  if (post.second) {
    auto layout = s.inputs[*post.second];
    if (post.name == "bias_add" && !post.reversed) layout = along_axis(layout, post.axis, output);
    if (!lies_simply(layout, s, output)) return std::nullopt;
    made.second = {gsl::narrow<int>(*post.second), std::move(layout)};
  }
  return made;
}

// Whether the first post is what a product calls its bias: input 2, one number per last dimension
// of a matmul or channel of a conv2d.
bool begins_with_bias(const numbered_step& s) {
  const auto& step = s.step;
  if (step.posts.empty() || step.what.inputs.size() != 2) return false;
  const auto& first = step.posts.front();
  if (first.second != 2U || first.reversed) return false;
  const auto& layout = s.inputs[2];
  const auto& shape = step.what.outputs.front().shape;
  if (step.what.name == "conv2d") return first.name == "bias_add" && first.axis == 1;
  const auto last = static_cast<std::int64_t>(shape.size()) - 1;
  const bool along_last = first.name == "bias_add" && first.axis == last;
  const bool one_row = first.name == "add" && layout.elements() == layout.shape.back();
  return (along_last || one_row) && layout.shape.back() == shape.back();
}

std::optional<step_plan> in_one(const numbered_step& s) {
  const auto& step = s.step;
  plan_request request(step.what);
  request.free_weights = s.constant_weights && is_product(step);
  // Other types would be rounded at the end only, and not after each operator.
  const auto& output = step.what.outputs.front();
  const bool exact = output.type == element_type::f32;
  if (!step.posts.empty() && !is_product(step) && !exact) return std::nullopt;
  const bool biased = is_product(step) && exact && begins_with_bias(s);
  if (biased) request.inputs.push_back(s.inputs[2]);
  for (const auto& post : std::span(step.posts).subspan(biased ? 1 : 0)) {
    auto made = as_request(post, s, output);
    if (!made) return std::nullopt;
    request.posts.push_back(std::move(*made));
  }
  request.compiled_only = !step.posts.empty();
  step_plan::part all;
  try {
    const bool plain = step.posts.empty() && !request.free_weights;
    all.how = plain ? plans().get(step.what)
                    : std::make_shared<const plan>(make_direct_plan(request));
  } catch (const dnnl::error&) {
    return std::nullopt;
  }
  for (std::size_t i = 0; i < s.inputs.size(); ++i) all.inputs.push_back(gsl::narrow<int>(i));
  const auto bytes = aligned(all.how->scratch_bytes);
  return step_plan{{std::move(all)}, bytes};
}

// -- a cast of what only moves ------------------------------------------------

// Such an operator writes any type: one rounding, as when it is cast afterwards.
std::optional<step_plan> moved_and_cast(const numbered_step& s) {
  const auto& step = s.step;
  const auto& name = step.what.name;
  const bool moves = name == "transpose" || name == "reshape";
  if (!moves || step.posts.size() != 1 || step.posts.front().name != "cast") return std::nullopt;
  auto what = step.what;
  what.outputs.front().type = step.posts.front().type;
  try {
    auto how = plans().get(what);
    const auto bytes = aligned(how->scratch_bytes);
    return step_plan{{{std::move(how), {0}}}, bytes};
  } catch (const dnnl::error&) {
    return std::nullopt;
  }
}

// -- one after the other ------------------------------------------------------

struct chain_link {
  operator_description what;
  std::vector<int> inputs;
};

chain_link link_of(const post_operation& post, const numbered_step& s,
                   const tensor_layout& value) {
  chain_link made;
  made.what.name = post.name == "bias_add" && post.reversed ? "add" : post.name;
  made.what.inputs = {value};
  made.inputs = {step_plan::part::before};
  if (made.what.name == "bias_add") made.what.attributes["axis"] = post.axis;
  if (post.second) {
    made.what.inputs.push_back(s.inputs[*post.second]);
    made.inputs.push_back(gsl::narrow<int>(*post.second));
  }
  if (post.reversed) {
    std::swap(made.what.inputs[0], made.what.inputs[1]);
    std::swap(made.inputs[0], made.inputs[1]);
  }
  made.what.outputs = {value};
  made.what.outputs.front().type = post.type;
  return made;
}

std::vector<chain_link> links_of(const numbered_step& s) {
  chain_link first{s.step.what, {}};
  for (const auto each : s.step.inputs) first.inputs.push_back(gsl::narrow<int>(each));
  std::vector<chain_link> made{std::move(first)};
  for (const auto& post : s.step.posts) {
    made.push_back(link_of(post, s, made.back().what.outputs.front()));
  }
  return made;
}

// Results between lie in two places in turn, the parts' own scratch memory behind.
step_plan one_after_another(const numbered_step& s) {
  const auto links = links_of(s);
  std::size_t between = 0;
  for (std::size_t i = 0; i + 1 < links.size(); ++i) {
    between = std::max(between, aligned(links[i].what.outputs.front().bytes()));
  }
  const auto own = links.size() > 2 ? 2 * between : between;
  step_plan made;
  made.scratch_bytes = own;
  for (std::size_t i = 0; i < links.size(); ++i) {
    auto how = plans().get(links[i].what);
    made.scratch_bytes = std::max(made.scratch_bytes, aligned(own + how->scratch_bytes));
    const bool last = i + 1 == links.size();
    made.parts.push_back({std::move(how), links[i].inputs,
                          last ? step_plan::part::last : (i % 2) * between, own});
  }
  return made;
}

} // namespace

step_plan make_step_plan(const numbered_step& s) {
  if (auto made = in_one(s)) return std::move(*made);
  if (auto made = moved_and_cast(s)) return std::move(*made);
  return one_after_another(s);
}

void execute(const step_plan& p, std::span<const std::byte* const> inputs, std::byte* output,
             std::byte* scratch) {
  const std::byte* before = nullptr;
  for (const auto& part : p.parts) {
    std::array<const std::byte*, operator_inputs_max> from{};
    for (std::size_t i = 0; i < part.inputs.size(); ++i) {
      const auto number = part.inputs[i];
      from[i] = number < 0 ? before : inputs[static_cast<std::size_t>(number)];
    }
    auto* const to = part.output == step_plan::part::last ? output : scratch + part.output;
    execute(*part.how, from, to, scratch + part.scratch);
    before = to;
  }
}

} // namespace troupe::operators
