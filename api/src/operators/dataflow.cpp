#include "troupe/operators/dataflow.hpp"

#include <algorithm>
#include <string>

#include "api/src/binding.hpp"
#include "api/src/operators/flow_window.hpp"
#include "api/src/operators/prepare.hpp"
#include "api/src/states.hpp"
#include "core/operators/inference.hpp"

namespace troupe {
namespace {

using operators::flow_lanes;
using operators::flow_node;
using operators::flow_window;

constexpr unsigned streams_max = 64;
constexpr unsigned window_max = 65'536;

status check_bound(const char* name, unsigned value, unsigned most) {
  if (value >= 1 && value <= most) return {};
  return make_status(code::invalid_parameter, "dataflow_options::" + std::string(name) + " is " +
                                                  std::to_string(value) + "; 1 to " +
                                                  std::to_string(most) + " are allowed");
}

void declare(flow_node& node, std::span<const tensor> all, access_mode mode) {
  for (const auto& each : all) {
    node.ranges.push_back({each.bytes().data(), each.bytes().size(), mode});
  }
}

std::shared_ptr<flow_node> make_node(const char* name, std::span<const tensor> reads,
                                     std::span<const tensor> writes) {
  auto made = std::make_shared<flow_node>();
  made->name = name;
  made->ranges.reserve(reads.size() + writes.size());
  declare(*made, reads, access_mode::read);
  declare(*made, writes, access_mode::write);
  return made;
}

} // namespace

struct dataflow::state {
  context home;
  pool memory;
  flow_lanes lanes;
  flow_window window;

  state(context h, pool m, std::vector<stream> streams, std::size_t limit)
      : home(std::move(h)), memory(std::move(m)), lanes(std::move(streams)),
        window(*home.state()->home, lanes, limit) {}

  /// Whether a node may be submitted that is called `name`; waits for room.
  status admit(const char* name, std::span<const tensor> reads, std::span<const tensor> writes) {
    if (auto s = may_call(*home.state()->home, "dataflow::submit"); !s.ok()) return s;
    if (auto s = binding::check(*home.state()->record); !s.ok()) return s;
    for (const auto all : {reads, writes}) {
      for (const auto& each : all) {
        if (auto s = check_tensor(name, each); !s.ok()) return s;
      }
    }
    return window.make_room();
  }

  /// Submits `node`, whose ranges are complete and whose lane is chosen.
  status enter(const std::shared_ptr<flow_node>& node, flow_window::before before,
               flow_window::keep needs, call_site site) {
    node->inputs = std::move(before.data);
    if (auto s = lanes.submit(node, before.all, site); !s.ok()) return s;
    const auto* user = lanes.at(node->lane).state().get();
    for (const auto& each : needs.tensors) each.bytes().used_on(user);
    // Where all is in one stream, the order of that stream keeps memory long enough.
    const bool alone =
        !before.all.empty() && std::ranges::all_of(before.all, [&](const auto& each) {
          return each->lane == node->lane;
        });
    if (alone) needs.tensors.clear();
    window.add(node, std::move(needs));
    return {};
  }

  status enter_operator(const operator_description& what, std::shared_ptr<const operators::plan> p,
                        std::span<const tensor> inputs, const tensor& output,
                        const std::shared_ptr<flow_node>& node, call_site site) {
    flow_window::keep needs;
    const auto bytes = p->scratch_bytes;
    if (bytes != 0) {
      auto got = memory.allocate<std::byte>(lanes.at(node->lane), bytes);
      if (!got) return got.error();
      needs.scratch = std::move(got).value();
    }
    node->name = intern_name(what.name);
    std::vector<const std::byte*> from;
    for (const auto& each : inputs) from.push_back(each.bytes().data());
    node->work = [p = std::move(p), from = std::move(from), to = output.bytes().data(),
                  spare = needs.scratch.data()] {
      operators::execute(*p, from, to, spare);
      return status{};
    };
    needs.tensors.assign(inputs.begin(), inputs.end());
    needs.tensors.push_back(output);
    if (bytes != 0) node->ranges.push_back({needs.scratch.data(), bytes, access_mode::write});
    return enter(node, window.before_of(node->ranges), std::move(needs), site);
  }

private:
  [[nodiscard]] status check_tensor(const char* name, const tensor& given) const {
    if (given.empty()) {
      return make_status(code::invalid_parameter, std::string("'") + name + "': a tensor is empty");
    }
    const auto owner = given.bytes().context_id();
    if (owner == home.id()) return {};
    return make_status(code::invalid_parameter,
                       std::string("'") + name + "': a tensor is memory of context " +
                           std::to_string(owner) + "; the dataflow is of context " +
                           std::to_string(home.id()));
  }
};

dataflow::dataflow(std::unique_ptr<state> made) : state_(std::move(made)) {}
dataflow::dataflow(dataflow&&) noexcept = default;
dataflow& dataflow::operator=(dataflow&&) noexcept = default;
dataflow::~dataflow() = default;

result<dataflow> dataflow::make(const context& home, const dataflow_options& options) {
  if (auto s = check_bound("streams", options.streams, streams_max); !s.ok()) return s;
  if (auto s = check_bound("window", options.window, window_max); !s.ok()) return s;
  auto memory = home.create_pool();
  if (!memory) return memory.error();
  std::vector<stream> streams;
  for (unsigned i = 0; i < options.streams; ++i) {
    auto made = home.create_stream({options.priority, 0});
    if (!made) return made.error();
    streams.push_back(std::move(made).value());
  }
  return dataflow(std::make_unique<state>(home, std::move(memory).value(), std::move(streams),
                                          options.window));
}

status dataflow::submit(operator_description what, std::span<const tensor> inputs,
                        std::span<const tensor> outputs, call_site site) {
  auto p = operators::prepare(what, inputs, outputs);
  if (!p) return p.error();
  if (auto s = state_->admit(what.name.c_str(), inputs, outputs); !s.ok()) return s;
  auto node = make_node("", inputs, outputs);
  node->lane = state_->lanes.choose(state_->window.before_of(node->ranges).all);
  return state_->enter_operator(what, std::move(p).value(), inputs, outputs.front(), node, site);
}

result<tensor> dataflow::apply(operator_description what, std::span<const tensor> inputs,
                               call_site site) {
  operators::take_layouts(what.inputs, inputs);
  auto layout = infer_output(what);
  if (!layout) return layout.error();
  if (auto s = state_->admit(what.name.c_str(), inputs, {}); !s.ok()) return s;
  auto node = make_node("", inputs, {});
  node->lane = state_->lanes.choose(state_->window.before_of(node->ranges).all);
  auto output = tensor::make(state_->memory, state_->lanes.at(node->lane),
                             std::move(layout).value());
  if (!output) return output;
  declare(*node, {&output.value(), 1}, access_mode::write);
  auto p = operators::prepare(what, inputs, {&output.value(), 1});
  if (!p) return p.error();
  auto entered = state_->enter_operator(what, std::move(p).value(), inputs, output.value(), node,
                                        site);
  if (!entered.ok()) return entered;
  return output;
}

status dataflow::submit_kernel(const task& t, std::function<status()> kernel,
                               std::span<const tensor> reads, std::span<const tensor> writes) {
  if (t.blocks != 1) {
    return make_status(code::invalid_parameter, std::string("'") + t.name + "' has " +
                                                    std::to_string(t.blocks) +
                                                    " blocks; a node of a dataflow has 1");
  }
  if (auto s = state_->admit(t.name, reads, writes); !s.ok()) return s;
  auto node = make_node(t.name, reads, writes);
  node->work = std::move(kernel);
  auto before = state_->window.before_of(node->ranges);
  node->lane = state_->lanes.choose(before.all);
  flow_window::keep needs;
  needs.tensors.reserve(reads.size() + writes.size());
  needs.tensors.assign(reads.begin(), reads.end());
  needs.tensors.insert(needs.tensors.end(), writes.begin(), writes.end());
  return state_->enter(node, std::move(before), std::move(needs), t.site);
}

result<tensor> dataflow::make_tensor(tensor_layout layout) {
  return tensor::make(state_->memory, state_->lanes.at(0), std::move(layout));
}

status dataflow::after(const event& e, call_site site) {
  for (std::size_t i = 0; i < state_->lanes.size(); ++i) {
    if (auto s = state_->lanes.at(i).wait(e, forever, site); !s.ok()) return s;
  }
  return {};
}

status dataflow::wait(const tensor& of, timeout limit) {
  auto& home = *state_->home.state()->home;
  if (auto s = may_call(home, "dataflow::wait"); !s.ok()) return s;
  const auto deadline = deadline_after(home, limit.count());
  if (!deadline) return deadline.error();
  const access_range read{of.bytes().data(), of.bytes().size(), access_mode::read};
  const auto writers = state_->window.before_of({&read, 1}).data;
  for (const auto& each : writers) {
    auto s = state_->window.await(each, deadline.value(), limit.count());
    if (!s.ok()) return s;
  }
  state_->window.conclude_all();
  for (const auto& each : writers) {
    if (!each->outcome.ok()) return each->outcome;
  }
  return {};
}

status dataflow::wait_all(timeout limit) {
  auto& home = *state_->home.state()->home;
  if (auto s = may_call(home, "dataflow::wait_all"); !s.ok()) return s;
  const auto deadline = deadline_after(home, limit.count());
  if (!deadline) return deadline.error();
  for (const auto& each : state_->window.all()) {
    auto s = state_->window.await(each, deadline.value(), limit.count());
    if (!s.ok()) return s;
  }
  state_->window.conclude_all();
  return state_->window.take_first_failure();
}

dataflow_counters dataflow::counters() const { return state_->window.counters(); }

pool_counters dataflow::memory() const { return state_->memory.counters(); }

} // namespace troupe
