#include "api/src/operators/lowering.hpp"

#include <algorithm>
#include <functional>
#include <tuple>
#include <utility>

#include "api/src/operators/constants.hpp"
#include "core/graphs/memory_plan.hpp"

namespace troupe::operators {
namespace {

std::string label_of(const program_step& step) {
  return name_of(step) + " -> t" + std::to_string(step.output);
}

device_span<std::byte> span_of(const buffer<std::byte>& of) {
  return {of.data(), of.size(), of.context_id()};
}

device_span<std::byte> span_of(const tensor& of) {
  const auto& bytes = of.bytes();
  return {bytes.data(), bytes.size(), bytes.context_id()};
}

// Makes the steps of a program ready, one after the other.
class lowering {
public:
  lowering(const context& home, stream& s, lowered_graph& target, operator_graph_report& report)
      : home_(home), s_(s), target_(target), report_(report) {}

  status step(program_step step) {
    const auto label = label_of(step);
    const auto reads = launch_reads(step);
    numbered_step numbered{step, {}, target_.program.tensors[reads.at(reads.size() > 1)].constant};
    lowered_step made;
    for (const auto each : reads) {
      numbered.inputs.push_back(target_.program.tensors[each].layout);
      made.inputs.push_back({each, {}});
    }
    if (step.norm) {
      if (auto s = fold(step, numbered, made); !s.ok()) return s;
    }
    renumber(numbered.step);
    made.output = step.output;
    try {
      made.how = std::make_shared<const step_plan>(make_step_plan(numbered));
      if (auto s = arrange(made); !s.ok()) return s;
    } catch (const dnnl::error& refusal) {
      return make_status(code::not_supported, "operator " + label + ", " + to_text(step.what) +
                                                  ": oneDNN says '" + refusal.what() +
                                                  "' on this processor");
    }
    note(label, *made.how, numbered);
    target_.steps.push_back(std::move(made));
    return {};
  }

private:
  // Weight and bias of their own take the places of those of the program.
  status fold(const program_step& step, numbered_step& numbered, lowered_step& made) {
    auto got = fold_norm(home_, s_, step, target_.bound);
    if (!got) return got.error();
    auto& what = numbered.step.what;
    what.inputs.resize(3);
    std::size_t place = 1;
    for (const auto& each : {got.value().weight, got.value().bias}) {
      numbered.inputs[place] = what.inputs[place] = each.layout();
      made.inputs[place] = {lowered_step::none, span_of(each)};
      target_.folded.push_back(each);
      ++place;
    }
    numbered.step.norm.reset();
    return {};
  }

  static void renumber(program_step& step) {
    std::uint32_t next = 0;
    step.inputs.resize(step.what.inputs.size());
    for (auto& each : step.inputs) each = next++;
    for (auto& post : step.posts) {
      if (post.second) post.second = next++;
    }
  }

  status arrange(lowered_step& step) {
    const auto& first = *step.how->parts.front().how;
    if (first.plain_weights.is_zero()) return {};
    auto& weights = step.inputs[1];
    const auto from = weights.tensor == lowered_step::none
                          ? target_.folded[target_.folded.size() - 2]
                          : target_.bound[weights.tensor];
    auto got = arrange_weights(home_, s_, first, from);
    if (!got) return got.error();
    weights = {lowered_step::none, span_of(got.value())};
    target_.owned.push_back(std::move(got).value());
    return {};
  }

  // Says where a launch has several primitives: then what lies between them is written after all.
  void note(const std::string& label, const step_plan& how, const numbered_step& of) {
    const auto& posts = of.step.posts;
    if (how.parts.size() == 1) return;
    auto type = of.step.what.outputs.front();
    for (const auto& post : posts) {
      report_.passes.bytes -= std::min<std::uint64_t>(report_.passes.bytes, 2 * type.bytes());
      type.type = post.type;
    }
    report_.passes.notes.push_back(
        {"one primitive", label, {},
         "oneDNN has none that gives the same: " + std::to_string(how.parts.size()) +
             " run after each other in one launch",
         0});
  }

  const context& home_;
  stream& s_;
  lowered_graph& target_;
  operator_graph_report& report_;
};

// The tensors between operators and the steps' scratch memory, by who uses them.
struct private_ranges {
  std::vector<private_range> all;
  std::vector<device_span<std::byte>*> places; // to be filled in, one for each
};

// The steps that name each tensor, by its place.
std::vector<std::vector<std::uint32_t>> users_of(const lowered_graph& g) {
  std::vector<std::vector<std::uint32_t>> made(g.program.tensors.size());
  const auto note = [&](std::uint32_t tensor, std::uint32_t node) {
    if (tensor == lowered_step::none) return;
    auto& all = made[tensor];
    if (all.empty() || all.back() != node) all.push_back(node);
  };
  for (std::uint32_t node = 0; node < g.steps.size(); ++node) {
    for (const auto& each : g.steps[node].inputs) note(each.tensor, node);
    note(g.steps[node].output, node);
  }
  return made;
}

private_ranges ranges_of(lowered_graph& g) {
  private_ranges made;
  const auto add = [&](std::uint64_t bytes, std::vector<std::uint32_t> users,
                       device_span<std::byte>& place) {
    made.all.push_back({bytes, std::move(users)});
    made.places.push_back(&place);
  };
  auto users = users_of(g);
  g.between.resize(g.program.tensors.size());
  for (std::uint32_t node = 0; node < g.steps.size(); ++node) {
    auto& step = g.steps[node];
    if (step.how->scratch_bytes != 0) add(step.how->scratch_bytes, {node}, step.scratch);
    if (!g.bound[step.output].empty()) continue;
    add(g.program.tensors[step.output].layout.bytes(), std::move(users[step.output]),
        g.between[step.output]);
  }
  return made;
}

// The order between the steps, as nodes that do nothing: who reads a tensor follows who writes it.
graph_ir order_of(const lowered_graph& g) {
  graph_ir made;
  for (std::size_t i = 0; i < g.steps.size(); ++i) static_cast<void>(made.add({}).value());
  const auto users = users_of(g);
  for (std::uint32_t node = 0; node < g.steps.size(); ++node) {
    for (const auto user : users[g.steps[node].output]) {
      if (user != node) made.depend(node, user).or_throw();
    }
  }
  return made;
}

status place_between(const context& home, lowered_graph& g, operator_graph_report& report) {
  const auto ranges = ranges_of(g);
  if (ranges.all.empty()) return {};
  const auto planned = plan_memory(order_of(g), ranges.all);
  if (!planned) return planned.error();
  report.private_bytes = planned.value().peak_bytes;
  report.unshared_bytes = planned.value().total_bytes;
  auto block = home.allocate<std::byte>(planned.value().peak_bytes);
  if (!block) return block.error();
  const auto all = span_of(block.value());
  for (std::size_t i = 0; i < ranges.all.size(); ++i) {
    *ranges.places[i] = all.subspan(planned.value().offsets[i], ranges.all[i].bytes);
  }
  g.owned.push_back(std::move(block).value());
  return {};
}

node_description describe(const program_step& step, const lowered_step& made,
                          const lowered_graph& all) {
  node_description what{name_of(step), {{"operator", to_text(step.what)}}, {}};
  const auto add = [&](std::uint32_t tensor, const std::byte* data, bool written) {
    if (tensor == lowered_step::none) return;
    const auto& layout = all.program.tensors[tensor].layout;
    what.tensors.push_back({std::string(to_string(layout.type)), layout.shape, data, written});
  };
  const auto places = arguments_of(made, all);
  for (std::size_t i = 0; i < made.inputs.size(); ++i) {
    add(made.inputs[i].tensor, places[i].data(), false);
  }
  add(made.output, places[operator_inputs_max].data(), true);
  return what;
}

} // namespace

void step_kernel::operator()(bytes_in a, bytes_in b, bytes_in c, bytes_in d, bytes_in e,
                             bytes_in f, bytes_in g, bytes_in h, std::span<std::byte> out,
                             std::span<std::byte> spare) const {
  const std::array from{a.data(), b.data(), c.data(), d.data(),
                        e.data(), f.data(), g.data(), h.data()};
  execute(*how, from, out.data(), spare.data());
}

bool lowered_step::names(std::uint32_t tensor) const {
  return output == tensor || std::ranges::find(inputs, tensor, &argument::tensor) != inputs.end();
}

result<lowered_graph> lower(const context& home, const operator_graph& g,
                            operator_program program, operator_graph_report& report) {
  lowered_graph made;
  made.bound.assign(g.bound().begin(), g.bound().end());
  if (std::ranges::none_of(program.tensors, &program_tensor::kept)) {
    return make_status(code::invalid_parameter,
                       "operator graph '" + g.name() + "' has no outputs");
  }
  made.program = std::move(program);
  if (auto s = check_overlaps(g.name(), made); !s.ok()) return s;
  auto preparing = home.create_stream();
  if (!preparing) return preparing.error();
  lowering each(home, preparing.value(), made, report);
  for (const auto& step : made.program.steps) {
    if (auto s = each.step(step); !s.ok()) return s;
  }
  if (auto s = place_between(home, made, report); !s.ok()) return s;
  if (auto s = preparing.value().synchronize(); !s.ok()) return s;
  report.launches = made.steps.size();
  return made;
}

result<graph> as_graph(const std::string& name, lowered_graph& all) {
  graph made(name);
  const auto order = order_of(all);
  for (std::size_t i = 0; i < all.steps.size(); ++i) {
    auto& step = all.steps[i];
    const auto& from = all.program.steps[i];
    const task t{std::string_view(name_of(from))};
    auto added = std::apply(
        [&](const auto&... arguments) {
          return made.add_kernel(t, step_kernel{step.how}, arguments...);
        },
        arguments_of(step, all));
    if (!added) return added.error();
    step.node = std::move(added).value();
    if (auto s = made.describe(step.node, describe(from, step, all)); !s.ok()) return s;
    for (const auto before : order.nodes()[i].after) {
      if (auto s = made.add_dependency(all.steps[before].node, step.node); !s.ok()) return s;
    }
  }
  return made;
}

std::array<device_span<std::byte>, operator_inputs_max + 2> arguments_of(
    const lowered_step& step, const lowered_graph& all) {
  const auto place = [&](std::uint32_t tensor) {
    return all.bound[tensor].empty() ? all.between[tensor] : span_of(all.bound[tensor]);
  };
  std::array<device_span<std::byte>, operator_inputs_max + 2> made;
  for (std::size_t i = 0; i < step.inputs.size(); ++i) {
    const auto& each = step.inputs[i];
    made[i] = each.tensor == lowered_step::none ? each.place : place(each.tensor);
  }
  made[operator_inputs_max] = place(step.output);
  made[operator_inputs_max + 1] = step.scratch;
  return made;
}

status check_overlaps(const std::string& name, const lowered_graph& all) {
  const std::less<const std::byte*> before;
  for (std::size_t i = 0; i < all.bound.size(); ++i) {
    if (!all.program.tensors[i].kept) continue;
    const auto out = span_of(all.bound[i]);
    for (std::size_t j = 0; j < all.bound.size(); ++j) {
      const auto other = span_of(all.bound[j]);
      if (i == j || other.size() == 0) continue;
      if (!before(out.data(), other.data() + other.size()) ||
          !before(other.data(), out.data() + out.size())) {
        continue;
      }
      return make_status(code::invalid_parameter,
                         "operator graph '" + name + "': output t" + std::to_string(i) +
                             " and t" + std::to_string(j) + " overlap");
    }
  }
  return {};
}

} // namespace troupe::operators
