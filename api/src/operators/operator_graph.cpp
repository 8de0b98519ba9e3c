#include "troupe/operators/operator_graph.hpp"

#include <algorithm>
#include <atomic>
#include <utility>

namespace troupe {
namespace {

std::atomic<std::uint64_t> last_id = 0;

status bad(std::string message) {
  return make_status(code::invalid_parameter, std::move(message));
}

bool lies_as(const tensor_layout& a, const tensor_layout& b) {
  return a.type == b.type && a.shape == b.shape && a.strides == b.strides;
}

} // namespace

operator_graph::operator_graph(std::string_view name)
    : name_(name), id_(last_id.fetch_add(1) + 1) {}

status operator_graph::check(const operand& which) const {
  if (which.graph == id_ && which.index < program_.tensors.size()) return {};
  return bad("operand t" + std::to_string(which.index) + " is of " +
             (which.graph == 0 ? "no graph" : "another graph than '" + name_ + "'"));
}

result<operand> operator_graph::given(const tensor& from, bool constant) {
  if (from.empty()) return bad("operator graph '" + name_ + "': a tensor is empty");
  const auto index = program_.add({from.layout(), constant, false});
  bound_.push_back(from);
  return operand{id_, index};
}

result<operand> operator_graph::input(const tensor& from) { return given(from, false); }

result<operand> operator_graph::constant(const tensor& from) { return given(from, true); }

result<operand> operator_graph::apply(operator_description what, std::span<const operand> inputs,
                                      std::optional<element_type> type) {
  std::vector<std::uint32_t> places;
  for (const auto& each : inputs) {
    if (auto s = check(each); !s.ok()) return s;
    places.push_back(each.index);
  }
  const auto made = program_.call(std::move(what.name), std::move(places),
                                  std::move(what.attributes), type);
  if (!made) return made.error();
  bound_.emplace_back();
  return operand{id_, made.value()};
}

status operator_graph::output(const operand& from, const tensor& to) {
  if (auto s = check(from); !s.ok()) return s;
  auto& place = program_.tensors[from.index];
  const auto name = "operator graph '" + name_ + "': t" + std::to_string(from.index);
  if (std::ranges::find(program_.steps, from.index, &program_step::output) ==
      program_.steps.end()) {
    return bad(name + " is given, not computed");
  }
  if (place.kept) return bad(name + " is an output already");
  if (!lies_as(place.layout, to.layout())) {
    return bad(name + " is " + to_text(place.layout) + "; the tensor to write it to is " +
               (to.empty() ? "empty" : to_text(to.layout())));
  }
  place.kept = true;
  bound_[from.index] = to;
  return {};
}

} // namespace troupe
