#include "troupe/operators/dataflow.hpp"

#include <algorithm>
#include <string>

#include "api/src/binding.hpp"
#include "api/src/operators/flow_places.hpp"
#include "api/src/operators/prepare.hpp"
#include "api/src/states.hpp"
#include "core/operators/inference.hpp"

namespace troupe {
namespace {

using operators::flow_lanes;
using operators::flow_node;
using operators::flow_places;
using operators::flow_window;

constexpr unsigned streams_max = 64;
constexpr unsigned window_max = 65'536;

status check_bound(const char* name, unsigned value, unsigned most) {
  if (value >= 1 && value <= most) return {};
  return make_status(code::invalid_parameter, "dataflow_options::" + std::string(name) + " is " +
                                                  std::to_string(value) + "; 1 to " +
                                                  std::to_string(most) + " are allowed");
}

status bad(const char* name, const std::string& what) {
  return make_status(code::invalid_parameter, std::string("'") + name + "': " + what);
}

void declare(flow_node& node, std::span<const tensor> all, access_mode mode) {
  for (const auto& each : all) {
    node.ranges.push_back({each.bytes().data(), each.bytes().size(), mode});
  }
}

std::shared_ptr<flow_node> make_node(const char* name, const flow_places::seat& at) {
  auto made = std::make_shared<flow_node>();
  made->name = name;
  made->ranges.reserve(at.reads().size() + at.writes().size() + 1);
  declare(*made, at.reads(), access_mode::read);
  declare(*made, at.writes(), access_mode::write);
  return made;
}

std::vector<const std::byte*> data_of(std::span<const tensor> all) {
  std::vector<const std::byte*> made;
  for (const auto& each : all) made.push_back(each.bytes().data());
  return made;
}

status check_homes(std::span<const context> homes) {
  if (homes.empty()) return bad("dataflow", "there is no context for nodes to run in");
  for (std::size_t i = 0; i < homes.size(); ++i) {
    if (!homes[i].state()) return make_status(code::context_null, "the context handle is empty");
    if (homes[i].state()->home != homes[0].state()->home) {
      return bad("dataflow", "context " + std::to_string(homes[i].id()) +
                                 " is of another runtime than context " +
                                 std::to_string(homes[0].id()));
    }
    for (const auto& each : homes.first(i)) {
      if (each.id() != homes[i].id()) continue;
      return bad("dataflow", "context " + std::to_string(each.id()) + " is named twice");
    }
  }
  return {};
}

} // namespace

struct dataflow::state {
  context home; // the first place's
  flow_lanes lanes;
  flow_window window;
  flow_places places;

  state(std::vector<operators::flow_place> all, std::vector<stream> streams, std::size_t limit)
      : home(all.front().home), lanes(std::move(streams), all.size()),
        window(*home.state()->home, lanes, limit), places(std::move(all), lanes, window) {}

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

  [[nodiscard]] status check_tensor(const char* name, const tensor& given) const {
    if (given.empty()) return bad(name, "a tensor is empty");
    if (places.of(given)) return {};
    std::string ours;
    for (std::size_t i = 0; i < places.size(); ++i) {
      ours += (i == 0 ? "" : ", ") + std::to_string(places.at(i).home.id());
    }
    return bad(name, "a tensor is memory of context " + std::to_string(given.bytes().context_id()) +
                         "; the dataflow is of context " + ours);
  }

  /// The seat of a node that runs where its tensors lie.
  result<flow_places::seat> fixed_seat(const char* name, std::span<const tensor> reads,
                                       std::span<const tensor> writes) const {
    flow_places::seat made;
    made.given_reads = reads;
    made.given_writes = writes;
    if (places.size() == 1) return made;
    const auto& some = reads.empty() ? writes : reads;
    if (!some.empty()) made.place = places.of(some.front()).value();
    for (const auto all : {reads, writes}) {
      for (const auto& each : all) {
        if (places.of(each) == made.place) continue;
        return bad(name, "its tensors are memory of contexts " +
                             std::to_string(some.front().bytes().context_id()) + " and " +
                             std::to_string(each.bytes().context_id()) +
                             "; a kernel that is not told where they lie needs them in one");
      }
    }
    return made;
  }

  std::size_t lane_of(const flow_places::seat& at, const flow_window::before& before) {
    return at.lane ? *at.lane : lanes.choose(before.all, at.place);
  }

  /// Submits `node`, whose ranges are complete and whose lane is chosen.
  status enter(const std::shared_ptr<flow_node>& node, const flow_places::seat& at,
               flow_window::before before, flow_window::keep needs, call_site site) {
    node->inputs = std::move(before.data);
    if (auto s = lanes.submit(node, before.all, site); !s.ok()) {
      places.abandon(at);
      return s;
    }
    const auto* user = lanes.at(node->lane).state().get();
    for (const auto& each : needs.tensors) each.bytes().used_on(user);
    // Where all is in one stream, the order of that stream keeps memory long enough.
    const bool alone =
        !before.all.empty() && std::ranges::all_of(before.all, [&](const auto& each) {
          return each->lane == node->lane;
        });
    if (alone) needs.tensors.clear();
    window.add(node, std::move(needs));
    places.entered(at, node, site);
    return {};
  }

  status enter_operator(const operator_description& what, std::shared_ptr<const operators::plan> p,
                        const std::shared_ptr<flow_node>& node, const flow_places::seat& at,
                        const tensor& output, call_site site) {
    flow_window::keep needs;
    const auto bytes = p->scratch_bytes;
    if (bytes != 0) {
      auto got = places.allocate(at.place, node->lane, bytes);
      if (!got) {
        places.abandon(at);
        return got.error();
      }
      needs.scratch = std::move(got).value();
    }
    node->name = intern_name(what.name);
    node->work = [p = std::move(p), from = data_of(at.reads()), to = output.bytes().data(),
                  spare = needs.scratch.data()] {
      operators::execute(*p, from, to, spare);
      return status{};
    };
    needs.tensors.assign(at.reads().begin(), at.reads().end());
    needs.tensors.push_back(output);
    if (bytes != 0) node->ranges.push_back({needs.scratch.data(), bytes, access_mode::write});
    return enter(node, at, window.before_of(node->ranges), std::move(needs), site);
  }

  status enter_kernel(const task& t, const flow_places::seat& at, std::function<status()> work) {
    auto node = make_node(t.name, at);
    node->work = std::move(work);
    auto before = window.before_of(node->ranges);
    node->lane = lane_of(at, before);
    flow_window::keep needs;
    needs.tensors.reserve(at.reads().size() + at.writes().size());
    needs.tensors.assign(at.reads().begin(), at.reads().end());
    needs.tensors.insert(needs.tensors.end(), at.writes().begin(), at.writes().end());
    return enter(node, at, std::move(before), std::move(needs), t.site);
  }
};

dataflow::dataflow(std::unique_ptr<state> made) : state_(std::move(made)) {}
dataflow::dataflow(dataflow&&) noexcept = default;
dataflow& dataflow::operator=(dataflow&&) noexcept = default;
dataflow::~dataflow() = default;

result<dataflow> dataflow::make(const context& home, const dataflow_options& options) {
  return make(std::span(&home, 1), options);
}

result<dataflow> dataflow::make(std::span<const context> homes, const dataflow_options& options) {
  if (auto s = check_bound("streams", options.streams, streams_max); !s.ok()) return s;
  if (auto s = check_bound("window", options.window, window_max); !s.ok()) return s;
  if (auto s = check_homes(homes); !s.ok()) return s;
  std::vector<operators::flow_place> all;
  std::vector<stream> streams;
  for (const auto& home : homes) {
    auto memory = home.create_pool();
    if (!memory) return memory.error();
    all.push_back({home, std::move(memory).value()});
    for (unsigned i = 0; i < options.streams; ++i) {
      auto made = home.create_stream({options.priority, 0});
      if (!made) return made.error();
      streams.push_back(std::move(made).value());
    }
  }
  return dataflow(std::make_unique<state>(std::move(all), std::move(streams), options.window));
}

result<dataflow> dataflow::make(const runtime& on, std::span<const std::int64_t> devices,
                                const dataflow_options& options) {
  std::vector<std::int64_t> named(devices.begin(), devices.end());
  for (std::size_t i = 0; devices.empty() && i < on.device_count(); ++i) {
    named.push_back(static_cast<std::int64_t>(i));
  }
  std::vector<context> homes;
  for (const auto each : named) {
    auto device = on.device(each);
    if (!device) return device.error();
    auto home = device.value().create_context();
    if (!home) return home.error();
    homes.push_back(std::move(home).value());
  }
  return make(homes, options);
}

status dataflow::submit(operator_description what, std::span<const tensor> inputs,
                        std::span<const tensor> outputs, call_site site) {
  auto p = operators::prepare(what, inputs, outputs);
  if (!p) return p.error();
  if (auto s = state_->admit(what.name.c_str(), inputs, outputs); !s.ok()) return s;
  auto seat = state_->places.find_seat(inputs, outputs, site);
  if (!seat) return seat.error();
  auto node = make_node("", seat.value());
  node->lane = state_->lane_of(seat.value(), state_->window.before_of(node->ranges));
  const auto output = seat.value().writes().front();
  return state_->enter_operator(what, std::move(p).value(), node, seat.value(), output, site);
}

result<tensor> dataflow::apply(operator_description what, std::span<const tensor> inputs,
                               call_site site) {
  operators::take_layouts(what.inputs, inputs);
  auto layout = infer_output(what);
  if (!layout) return layout.error();
  if (auto s = state_->admit(what.name.c_str(), inputs, {}); !s.ok()) return s;
  auto found = state_->places.find_seat(inputs, {}, site);
  if (!found) return found.error();
  const auto& seat = found.value();
  auto node = make_node("", seat);
  node->lane = state_->lane_of(seat, state_->window.before_of(node->ranges));
  auto output = state_->places.make_tensor(seat.place, node->lane, layout.value());
  auto p = output ? operators::prepare(what, inputs, {&output.value(), 1}) : output.error();
  if (!p) {
    state_->places.abandon(seat);
    return p.error();
  }
  declare(*node, {&output.value(), 1}, access_mode::write);
  auto entered = state_->enter_operator(what, std::move(p).value(), node, seat, output.value(),
                                        site);
  if (!entered.ok()) return entered;
  state_->places.promise(output.value());
  return output;
}

namespace {

status check_blocks(const task& t) {
  if (t.blocks == 1) return {};
  return make_status(code::invalid_parameter, std::string("'") + t.name + "' has " +
                                                  std::to_string(t.blocks) +
                                                  " blocks; a node of a dataflow has 1");
}

} // namespace

status dataflow::submit_kernel(const task& t, std::function<status()> kernel,
                               std::span<const tensor> reads, std::span<const tensor> writes) {
  if (auto s = check_blocks(t); !s.ok()) return s;
  if (auto s = state_->admit(t.name, reads, writes); !s.ok()) return s;
  const auto seat = state_->fixed_seat(t.name, reads, writes);
  if (!seat) return seat.error();
  return state_->enter_kernel(t, seat.value(), std::move(kernel));
}

status dataflow::submit_movable(const task& t, std::function<status(const node_memory&)> kernel,
                                std::span<const tensor> reads, std::span<const tensor> writes) {
  if (auto s = check_blocks(t); !s.ok()) return s;
  if (auto s = state_->admit(t.name, reads, writes); !s.ok()) return s;
  const auto seat = state_->places.find_seat(reads, writes, t.site);
  if (!seat) return seat.error();
  std::vector<std::byte*> targets;
  for (const auto& each : seat.value().writes()) targets.push_back(each.bytes().data());
  return state_->enter_kernel(t, seat.value(),
                              [kernel = std::move(kernel), from = data_of(seat.value().reads()),
                               to = std::move(targets)] { return kernel({from, to}); });
}

result<tensor> dataflow::make_tensor(tensor_layout layout, std::size_t place) {
  if (place >= state_->places.size()) {
    return make_status(code::invalid_parameter,
                       "the dataflow has no place " + std::to_string(place) + "; it has " +
                           std::to_string(state_->places.size()));
  }
  const auto lane = place * state_->lanes.lanes_of_place();
  return state_->places.make_tensor(place, lane, layout);
}

status dataflow::constant(const tensor& what) {
  if (auto s = state_->check_tensor("constant", what); !s.ok()) return s;
  if (what.bytes().keeper().expired()) {
    return make_status(code::not_supported,
                       "a view is no constant of a dataflow, as nobody knows how long its memory "
                       "lives");
  }
  state_->places.promise(what);
  return {};
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
  state_->window.conclude();
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
  state_->places.sweep();
  return state_->window.take_first_failure();
}

dataflow_counters dataflow::counters() const { return state_->window.counters(); }

std::size_t dataflow::places() const { return state_->places.size(); }

pool_counters dataflow::memory(std::size_t place) const {
  if (place >= state_->places.size()) return {};
  return state_->places.at(place).memory.counters();
}

} // namespace troupe
