#include "api/src/operators/prepare.hpp"

#include "core/operators/inference.hpp"

namespace troupe::operators {
namespace {

status check_present(const operator_description& what, std::span<const tensor> all) {
  for (const auto& each : all) {
    if (each.empty()) {
      return make_status(code::invalid_parameter,
                         "operator '" + what.name + "': a tensor is empty");
    }
  }
  return {};
}

} // namespace

void take_layouts(std::vector<tensor_layout>& target, std::span<const tensor> from) {
  target.clear();
  for (const auto& each : from) target.push_back(each.layout());
}

result<std::shared_ptr<const plan>> prepare(operator_description& what,
                                            std::span<const tensor> inputs,
                                            std::span<const tensor> outputs) {
  take_layouts(what.inputs, inputs);
  take_layouts(what.outputs, outputs);
  for (const auto all : {inputs, outputs}) {
    if (auto present = check_present(what, all); !present.ok()) return present;
  }
  if (auto s = check_operator(what); !s.ok()) return s;
  try {
    return plans().get(what);
  } catch (const dnnl::error& refusal) {
    return make_status(code::not_supported, "operator " + to_text(what) + ": oneDNN says '" +
                                                refusal.what() + "' on this processor");
  }
}

} // namespace troupe::operators
