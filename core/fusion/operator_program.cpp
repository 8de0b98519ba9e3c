#include "core/fusion/operator_program.hpp"

#include <utility>

#include <gsl/gsl>

#include "core/operators/inference.hpp"

namespace troupe {

namespace {

void append_seconds(std::vector<std::uint32_t>& to, const program_step& step) {
  for (const auto& post : step.posts) {
    if (post.second) to.push_back(*post.second);
  }
}

} // namespace

std::vector<std::uint32_t> reads_of(const program_step& step) {
  auto all = step.inputs;
  if (step.norm) {
    const auto& n = *step.norm;
    all.insert(all.end(), {n.scale, n.shift, n.mean, n.variance});
  }
  append_seconds(all, step);
  return all;
}

std::vector<std::uint32_t> launch_reads(const program_step& step) {
  auto all = step.inputs;
  if (step.norm && all.size() == 2) all.push_back(step.norm->shift);
  append_seconds(all, step);
  return all;
}

std::string name_of(const program_step& step) {
  auto name = step.what.name;
  if (step.norm) name += "+batch_norm";
  for (const auto& post : step.posts) name += "+" + post.name;
  return name;
}

std::uint32_t operator_program::add(program_tensor tensor) {
  tensors.push_back(std::move(tensor));
  return gsl::narrow<std::uint32_t>(tensors.size() - 1);
}

result<std::uint32_t> operator_program::call(std::string name, std::vector<std::uint32_t> inputs,
                                             decltype(operator_description::attributes) attributes,
                                             std::optional<element_type> output) {
  operator_description what;
  what.name = std::move(name);
  what.attributes = std::move(attributes);
  for (const auto each : inputs) {
    if (each >= tensors.size()) {
      return make_status(code::invalid_parameter,
                         "operator '" + what.name + "': there is no tensor " +
                             std::to_string(each) + "; the program has " +
                             std::to_string(tensors.size()));
    }
    what.inputs.push_back(tensors[each].layout);
  }
  auto layout = infer_output(what);
  if (!layout) return layout.error();
  auto written = std::move(layout).value();
  if (output) written.type = *output;
  what.outputs.push_back(written);
  if (auto s = check_operator(what); !s.ok()) return s;
  const auto place = add({std::move(written), false, false});
  steps.push_back({std::move(what), std::move(inputs), place, std::nullopt, {}});
  return place;
}

} // namespace troupe
