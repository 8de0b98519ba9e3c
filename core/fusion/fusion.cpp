#include "core/fusion/fusion.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <utility>

#include "core/operators/attributes.hpp"
#include "core/operators/inference.hpp"

namespace troupe {
namespace {

bool is_activation(std::string_view name) {
  constexpr std::array<std::string_view, 5> all{"relu", "gelu", "silu", "sigmoid", "tanh"};
  return std::ranges::find(all, name) != all.end();
}

bool is_arithmetic(std::string_view name) {
  constexpr std::array<std::string_view, 4> all{"add", "sub", "mul", "div"};
  return std::ranges::find(all, name) != all.end();
}

bool is_element_wise(std::string_view name) {
  return is_activation(name) || is_arithmetic(name) || name == "bias_add";
}

bool moves_elements(std::string_view name) {
  return name == "cast" || name == "reshape" || name == "transpose";
}

std::string label_of(const program_step& step) {
  return step.what.name + " -> t" + std::to_string(step.output);
}

// What is known of a tensor's use, counted anew after each change.
struct readers {
  std::size_t count = 0;
  std::size_t step = 0; // the last of them
};

readers readers_of(const operator_program& program, std::uint32_t tensor) {
  readers found;
  for (std::size_t i = 0; i < program.steps.size(); ++i) {
    const auto all = reads_of(program.steps[i]);
    const auto times = static_cast<std::size_t>(std::ranges::count(all, tensor));
    found.count += times;
    if (times != 0) found.step = i;
  }
  return found;
}

// The pass that would take `next` into `step`, or none.
std::optional<std::string_view> pass_for(const program_step& step, const program_step& next) {
  const auto& name = next.what.name;
  if (name == "batch_norm" && step.what.name == "conv2d") return "batch_norm";
  const bool product = step.what.name == "matmul" || step.what.name == "conv2d";
  if (product && (name == "add" || name == "bias_add" || is_activation(name))) {
    return step.what.name == "matmul" ? "matmul" : "convolution";
  }
  const bool takes_cast = is_element_wise(step.what.name) || moves_elements(step.what.name);
  if (name == "cast" && takes_cast) return "casts";
  if (is_element_wise(name) && is_element_wise(step.what.name)) return "element_wise";
  return std::nullopt;
}

bool asked_for(const fusion_options& options, std::string_view pass) {
  if (pass == "batch_norm") return options.batch_norm;
  if (pass == "matmul") return options.matmul;
  if (pass == "convolution") return options.convolution;
  return pass == "casts" ? options.casts : options.element_wise;
}

post_operation post_of(const program_step& next, std::uint32_t between) {
  post_operation made;
  made.name = next.what.name;
  made.type = next.what.outputs.front().type;
  if (next.inputs.size() == 2) {
    made.reversed = next.inputs[1] == between;
    made.second = next.inputs[made.reversed ? 0 : 1];
  }
  if (made.name == "bias_add") {
    const std::int64_t usual = next.what.inputs.front().shape.size() > 1 ? 1 : 0;
    made.axis = static_cast<std::int64_t>(
        operators::axis_of(next.what, "axis", operators::whole(next.what, "axis", usual)));
  }
  return made;
}

// Has `step` do what `next` does with its result.
void take(program_step& step, const program_step& next) {
  if (next.what.name == "batch_norm") {
    step.norm = folded_norm{next.inputs[1], next.inputs[2], next.inputs[3], next.inputs[4],
                            operators::number(next.what, "epsilon", 1e-5)};
  } else {
    step.posts.push_back(post_of(next, step.output));
  }
  step.posts.insert(step.posts.end(), next.posts.begin(), next.posts.end());
  step.output = next.output;
}

// Why a batch normalisation cannot go into the weights of a convolution.
std::string against_norm(const operator_program& program, const program_step& step,
                         const program_step& next) {
  if (step.norm || !step.posts.empty()) return "something comes before the normalisation";
  const auto fixed = [&](std::uint32_t each) { return program.tensors[each].constant; };
  const bool all = std::all_of(step.inputs.begin() + 1, step.inputs.end(), fixed) &&
                   std::all_of(next.inputs.begin() + 1, next.inputs.end(), fixed);
  if (!all) return "weights or statistics are not constant";
  const auto type = step.what.inputs.front().type;
  if (type == element_type::f32) return {};
  return "incompatible types: weights of " + std::string(to_string(type)) + " are not folded";
}

// Why `next`, a reader of what `step` gives, cannot be taken into it; empty: it can.
std::string against(const operator_program& program, const program_step& step,
                    const program_step& next, std::string_view pass) {
  const auto between = step.output;
  const auto& tensor = program.tensors[between];
  const auto& result = program.tensors[next.output].layout;
  if (tensor.kept) return "a reader outside: t" + std::to_string(between) + " is kept";
  if (const auto found = readers_of(program, between); found.count != 1) {
    return "a reader outside: t" + std::to_string(between) + " is read " +
           std::to_string(found.count) + " times";
  }
  auto both = step;
  take(both, next);
  if (const auto count = launch_reads(both).size(); count > operator_inputs_max) {
    return "together they read " + std::to_string(count) + " tensors; the limit is " +
           std::to_string(operator_inputs_max);
  }
  if (result.shape != tensor.layout.shape) {
    return "incompatible shapes: " + to_text(tensor.layout) + " becomes " + to_text(result);
  }
  if (next.what.name != "cast" &&
      (result.type != tensor.layout.type || result.strides != tensor.layout.strides)) {
    return "incompatible types: " + to_text(tensor.layout) + " becomes " + to_text(result);
  }
  if (pass == "batch_norm") return against_norm(program, step, next);
  // Only sums and activations in floating point are the same before as after the result is written.
  const bool product = pass == "matmul" || pass == "convolution";
  if (product && tensor.layout.type == element_type::s32) {
    return "incompatible types: products of integers";
  }
  return {};
}

// The two become one where the second stood: all that it reads is there by then, and nobody asks
// for what the first gives before.
void merge(operator_program& program, std::size_t first, std::size_t second) {
  take(program.steps[first], program.steps[second]);
  program.steps[second] = std::move(program.steps[first]);
  program.steps.erase(program.steps.begin() + static_cast<std::ptrdiff_t>(first));
}

// How many operators a step stands for.
std::size_t weight(const program_step& step) {
  return 1 + step.posts.size() + (step.norm ? 1U : 0U);
}

bool is_product(std::string_view pass) { return pass != "element_wise" && pass != "casts"; }

// Whether step `i` and its reader became one, by a pass over products or by another.
bool fuse_at(operator_program& program, std::size_t i, bool products,
             const fusion_options& options, fusion_report& report) {
  const auto& step = program.steps[i];
  const auto found = readers_of(program, step.output);
  if (found.count == 0) return false;
  const auto& next = program.steps[found.step];
  if (options.level == fusion_level::pairs && weight(step) + weight(next) > 2) return false;
  const auto pass = pass_for(step, next);
  if (!pass || is_product(*pass) != products || !asked_for(options, *pass)) return false;
  // What is read beside the result of another operator stays a tensor.
  if (std::ranges::find(next.inputs, step.output) == next.inputs.end()) return false;
  fusion_note note{std::string(*pass), label_of(step), label_of(next), {}, 0};
  note.why_not = against(program, step, next, *pass);
  const bool done = note.why_not.empty();
  if (done) {
    note.bytes = 2 * program.tensors[step.output].layout.bytes();
    ++report.launches;
    report.bytes += note.bytes;
    merge(program, i, found.step);
  }
  report.notes.push_back(std::move(note));
  return done;
}

} // namespace

fused_program fuse(operator_program program, const fusion_options& options) {
  fusion_report report;
  if (options.level == fusion_level::none) return {std::move(program), std::move(report)};
  // Products first, so that a sum goes to the product rather than to a chain beside it.
  for (const bool products : {true, false}) {
    for (std::size_t i = 0; i < program.steps.size();) {
      if (!fuse_at(program, i, products, options, report)) ++i; // else another stands here now
    }
  }
  return {std::move(program), std::move(report)};
}

} // namespace troupe
