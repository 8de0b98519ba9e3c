#include "core/fusion/operator_program.hpp"

#include <utility>

#include <gsl/gsl>

#include "core/operators/inference.hpp"

namespace troupe {

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
