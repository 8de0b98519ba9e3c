#include "core/fusion/fusion.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <utility>

#include "core/operators/attributes.hpp"

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

std::string name_of(const program_step& step) {
  return step.what.name + " -> t" + std::to_string(step.output);
}

// What is known of a tensor's use, counted anew after each change.
struct readers {
  std::size_t count = 0;
  std::size_t step = 0; // the last of them
};

readers readers_of(const operator_program& program, std::uint32_t tensor) {
  readers found;
  const auto note = [&](std::uint32_t each, std::size_t step) {
    if (each != tensor) return;
    ++found.count;
    found.step = step;
  };
  for (std::size_t i = 0; i < program.steps.size(); ++i) {
    const auto& step = program.steps[i];
    for (const auto each : step.inputs) note(each, i);
    for (const auto& post : step.posts) {
      if (post.second) note(*post.second, i);
    }
    if (!step.norm) continue;
    for (const auto each :
         {step.norm->scale, step.norm->shift, step.norm->mean, step.norm->variance}) {
      note(each, i);
    }
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
  const bool chain = is_element_wise(step.what.name) || step.what.name == "cast";
  if (name == "cast" && chain) return "casts";
  if (is_element_wise(name) && is_element_wise(step.what.name)) return "element_wise";
  return std::nullopt;
}

bool asked_for(const fusion_options& options, std::string_view pass) {
  if (pass == "batch_norm") return options.batch_norm;
  if (pass == "matmul") return options.matmul;
  if (pass == "convolution") return options.convolution;
  return pass == "casts" ? options.casts : options.element_wise;
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
  // The other operand is there when `step` runs only if nothing after it writes it.
  for (const auto each : next.inputs) {
    const auto writer = std::ranges::find(program.steps, each, &program_step::output);
    if (each != between && writer != program.steps.end() && &*writer > &step) {
      return "t" + std::to_string(each) + " is written after it";
    }
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

void merge(operator_program& program, std::size_t first, std::size_t second) {
  auto& step = program.steps[first];
  const auto& next = program.steps[second];
  if (next.what.name == "batch_norm") {
    step.norm = folded_norm{next.inputs[1], next.inputs[2], next.inputs[3], next.inputs[4],
                            operators::number(next.what, "epsilon", 1e-5)};
  } else {
    step.posts.push_back(post_of(next, step.output));
  }
  step.posts.insert(step.posts.end(), next.posts.begin(), next.posts.end());
  step.output = next.output;
  program.steps.erase(program.steps.begin() + static_cast<std::ptrdiff_t>(second));
}

// How many operators a step stands for.
std::size_t weight(const program_step& step) {
  return 1 + step.posts.size() + (step.norm ? 1U : 0U);
}

} // namespace

fused_program fuse(operator_program program, const fusion_options& options) {
  fusion_report report;
  if (options.level == fusion_level::none) return {std::move(program), std::move(report)};
  for (std::size_t i = 0; i < program.steps.size(); ++i) {
    for (bool again = true; again;) {
      again = false;
      const auto& step = program.steps[i];
      const auto found = readers_of(program, step.output);
      if (found.count == 0) break;
      if (options.level == fusion_level::pairs && weight(step) == 2) break;
      const auto& next = program.steps[found.step];
      const auto pass = pass_for(step, next);
      if (!pass || !asked_for(options, *pass)) break;
      fusion_note note{std::string(*pass), name_of(step), name_of(next), {}, 0};
      note.why_not = against(program, step, next, *pass);
      if (note.why_not.empty()) {
        note.bytes = 2 * program.tensors[step.output].layout.bytes();
        ++report.launches;
        report.bytes += note.bytes;
        merge(program, i, found.step);
        again = true;
      }
      report.notes.push_back(std::move(note));
    }
  }
  return {std::move(program), std::move(report)};
}

} // namespace troupe
