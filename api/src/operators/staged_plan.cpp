#include <algorithm>
#include <memory>
#include <optional>

#include "api/src/operators/plan.hpp"

namespace troupe::operators {
namespace {

constexpr std::size_t alignment = 64;

bool is_binary(const operator_description& d) {
  return d.name == "add" || d.name == "sub" || d.name == "mul" || d.name == "div";
}

// The description that oneDNN serves if it serves any of these shapes and types: all row-major, and
// nothing broadcast on the left.
operator_description plain(operator_description d) {
  if (is_binary(d)) d.inputs.front().shape = d.outputs.front().shape;
  for (auto* all : {&d.inputs, &d.outputs}) {
    for (auto& each : *all) each.strides = row_major(each.shape);
  }
  return d;
}

class stager {
public:
  explicit stager(plan& target) : target_(target) {}

  // Has the primitive take a copy of what lies as `given` and shall lie as `wanted`.
  void stage(int source, const tensor_layout& given, const tensor_layout& wanted) {
    if (given == wanted) return;
    const auto offset = (target_.scratch_bytes + alignment - 1) / alignment * alignment;
    target_.scratch_bytes = offset + wanted.bytes();
    strided_copy copy{bytes_of_element(given.type), wanted.shape,
                      broadcast_steps(given, wanted.shape), wanted.strides};
    if (source == plan::output) copy.from.swap(copy.to);
    target_.stages.push_back({source, offset, std::move(copy)});
    for (auto& each : target_.arguments) {
      if (each.source != source) continue;
      each.source = plan::staged;
      each.offset = offset;
    }
  }

private:
  plan& target_;
};

std::optional<plan> try_direct(const operator_description& d) {
  try {
    return make_direct_plan(d);
  } catch (const dnnl::error&) {
    return std::nullopt;
  }
}

// A convolution for which oneDNN has nothing but its plain loops while weights lie as they do: it is
// worth bringing these into another order each time.
std::optional<plan> try_arranged(const operator_description& d) {
  if (d.name != "conv2d") return std::nullopt;
  plan_request request(d);
  request.compiled_only = true;
  try {
    return make_direct_plan(request);
  } catch (const dnnl::error&) {
    request.free_weights = true;
  }
  try {
    auto made = make_direct_plan(request);
    if (made.plain_weights.is_zero()) return made;
    auto arrange = std::make_shared<const plan>(make_weights_plan(made));
    const auto own = std::max(made.scratch_bytes, arrange->scratch_bytes);
    made.arranged_offset = (own + alignment - 1) / alignment * alignment;
    const auto weights = std::ranges::find(made.arguments, DNNL_ARG_WEIGHTS, &plan::argument::id);
    made.scratch_bytes = made.arranged_offset + weights->layout.get_size();
    weights->source = plan::staged;
    weights->offset = made.arranged_offset;
    made.arrange = std::move(arrange);
    made.plain_weights = {};
    return made;
  } catch (const dnnl::error&) {
    return std::nullopt;
  }
}

} // namespace

plan make_plan(const operator_description& d) {
  if (auto arranged = try_arranged(d)) return std::move(*arranged);
  if (auto direct = try_direct(d)) return std::move(*direct);
  const auto served = plain(d);
  auto made = make_direct_plan(served);
  stager stage(made);
  for (std::size_t i = 0; i < d.inputs.size(); ++i) {
    stage.stage(static_cast<int>(i), d.inputs[i], served.inputs[i]);
  }
  stage.stage(plan::output, d.outputs.front(), served.outputs.front());
  return made;
}

} // namespace troupe::operators
