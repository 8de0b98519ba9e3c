#include "tests/equivalence/ways.hpp"

#include <array>
#include <cmath>
#include <cstring>
#include <functional>
#include <numeric>
#include <optional>
#include <span>
#include <stdexcept>
#include <utility>

#include <gsl/gsl>

#include "api/src/operators/lowering.hpp"
#include "core/copies/half.hpp"
#include "core/fusion/fusion.hpp"
#include "core/stable_hash.hpp"
#include "tests/equivalence/spread.hpp"
#include "troupe/capture.hpp"
#include "troupe/operators/dataflow.hpp"
#include "troupe/operators/executable_operators.hpp"
#include "troupe/operators/run_operator.hpp"

namespace troupe::equivalence {
namespace {

using contents = std::vector<std::byte>;
using places = std::vector<tensor>;    // by tensor of the program; empty where there is none
using results = std::vector<contents>; // by tensor; empty where it is no output

double element(element_type type, const contents& of, std::size_t i) {
  const auto read = [&]<class T>(T value) {
    std::memcpy(&value, of.data() + i * sizeof(T), sizeof(T));
    return value;
  };
  switch (type) {
    case element_type::f32: return read(float{});
    case element_type::f16: return static_cast<float>(half::of_bits(read(std::uint16_t{})));
    case element_type::bf16: return static_cast<float>(bfloat16::of_bits(read(std::uint16_t{})));
    case element_type::s8: return read(std::int8_t{});
    case element_type::u8: return read(std::uint8_t{});
    case element_type::s32: return read(std::int32_t{});
  }
  return 0;
}

// The same graph with its nodes in a random order, so that nothing but its edges keeps them in any.
graph in_another_order(const graph& from, stable_random& chance) {
  const auto& nodes = from.content().nodes();
  std::vector<std::uint32_t> order(nodes.size());
  std::iota(order.begin(), order.end(), 0U);
  chance.shuffle(gsl::span(order));
  graph_ir made(from.content().name());
  std::vector<std::uint32_t> place(nodes.size());
  for (const auto each : order) place[each] = made.add(nodes[each]).value();
  for (std::uint32_t i = 0; i < nodes.size(); ++i) {
    for (const auto before : nodes[i].after) made.depend(place[before], place[i]).or_throw();
  }
  return graph(std::move(made), from.context_id());
}

class comparison {
public:
  comparison(const runtime& where, const random_program& p, std::uint64_t seed)
      : p_(p), chance_(seed), ctx_(where.device(0).value().create_context().value()),
        far_(where.device(1).value().create_context().value()),
        memory_(ctx_.create_pool().value()), s_(ctx_.create_stream().value()) {
    for (int i = 0; i < 3; ++i) lanes_.push_back(ctx_.create_stream().value());
    spread_ = make_spread(p_, lanes_.size(), chance_);
  }

  void run() {
    compute_wanted();
    for (const auto* values : given_) expect("over streams", over_streams(*values), values);
    captured();
    for (const auto level : {fusion_level::none, fusion_level::pairs, fusion_level::full}) {
      described({.level = level}, "fused at level " + std::to_string(static_cast<int>(level)));
    }
    const fusion_options some{.batch_norm = chance_.chance(0.5), .matmul = chance_.chance(0.5),
                              .convolution = chance_.chance(0.5),
                              .element_wise = chance_.chance(0.5), .casts = chance_.chance(0.5)};
    described(some, "fused by some passes");
    for (const auto* values : given_) {
      expect("as dataflow", as_dataflow(*values, {&ctx_, 1}), values);
      expect("as dataflow over two devices", as_dataflow(*values, std::array{ctx_, far_}), values);
    }
    ctx_.synchronize().or_throw();
  }

  // In the ways whose order comes from here, without one edge of it.
  void run_without(std::size_t edge) {
    const auto needed = spread_.needed();
    left_out_ = needed.at(edge);
    compute_wanted();
    for (const auto* values : given_) expect("over streams", over_streams(*values), values);
    captured();
  }

  [[nodiscard]] std::size_t edges() const { return spread_.needed().size(); }

private:
  using values_of = std::vector<std::vector<float>>;

  void compute_wanted() {
    for (std::size_t i = 0; i < given_.size(); ++i) wanted_.at(i) = eager(*given_.at(i));
  }

  tensor make(std::uint32_t at, const context& where) {
    auto made = tensor::make(where, p_.what.tensors[at].layout).value();
    spoil(made);
    return made;
  }
  tensor make(std::uint32_t at) { return make(at, ctx_); }

  // What nobody has written is no result of anything.
  void spoil(const tensor& what) {
    constexpr std::byte junk{0xC5};
    ctx_.copy(what.bytes(), contents(what.bytes().size(), junk)).or_throw();
  }

  void spoil(const places& all) {
    for (const auto& step : p_.what.steps) spoil(all[step.output]);
  }

  void fill(const places& all, const values_of& values) {
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (!values[i].empty()) ctx_.copy(all[i].elements<float>(), values[i]).or_throw();
    }
  }

  tensor in_memory_of(const tensor& home, std::uint32_t at) const {
    const auto& bytes = home.bytes();
    return tensor::view({bytes.data(), bytes.size(), bytes.context_id()},
                        p_.what.tensors[at].layout)
        .value();
  }

  // Tensors for what is given, filled.
  places prepare(const values_of& values) {
    places all(p_.what.tensors.size());
    for (std::uint32_t i = 0; i < all.size(); ++i) {
      if (!values[i].empty()) all[i] = make(i);
    }
    fill(all, values);
    return all;
  }

  // And for all that operators write, in memory as they are spread over it.
  places prepare_spread(const values_of& values) {
    auto all = prepare(values);
    for (const auto& step : p_.what.steps) {
      const auto home = spread_.homes[step.output];
      all[step.output] =
          home == step.output ? make(home) : in_memory_of(all[home], step.output);
    }
    return all;
  }

  results take(const places& all) {
    results made(all.size());
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (!p_.what.tensors[i].kept) continue;
      made[i].resize(all[i].bytes().size());
      ctx_.copy(made[i], all[i].bytes()).or_throw();
    }
    return made;
  }

  static std::vector<tensor> inputs_of(const program_step& step, const places& all) {
    std::vector<tensor> made;
    for (const auto each : step.inputs) made.push_back(all[each]);
    return made;
  }

  results eager(const values_of& values) {
    auto all = prepare(values);
    for (const auto& step : p_.what.steps) {
      all[step.output] = make(step.output);
      run_operator(s_, memory_, step.what, inputs_of(step, all), {&all[step.output], 1}).or_throw();
    }
    s_.synchronize().or_throw();
    return take(all);
  }

  void submit_over_streams(const places& all) {
    std::vector<event> ended;
    for (std::size_t i = 0; i < p_.what.steps.size(); ++i) {
      const auto& step = p_.what.steps[i];
      const auto& [lane, after] = spread_.steps[i];
      auto& on = lanes_[lane];
      for (std::size_t w = 0; w < after.size(); ++w) {
        const bool left_out = left_out_ && left_out_->step == i && left_out_->wait == w;
        if (!left_out) on.wait(ended[after[w]]).or_throw();
      }
      run_operator(on, memory_, step.what, inputs_of(step, all), {&all[step.output], 1}).or_throw();
      ended.push_back(ctx_.create_event().value());
      on.record(ended.back()).or_throw();
    }
  }

  results over_streams(const values_of& values) {
    const auto all = prepare_spread(values);
    submit_over_streams(all);
    for (auto& each : lanes_) each.synchronize().or_throw();
    return take(all);
  }

  void captured() {
    const auto all = prepare_spread(p_.values);
    const auto begun = ctx_.create_event().value();
    capturing::begin(s_).or_throw();
    s_.record(begun).or_throw();
    for (auto& each : lanes_) each.wait(begun).or_throw();
    submit_over_streams(all);
    for (auto& each : lanes_) {
      const auto ended = ctx_.create_event().value();
      each.record(ended).or_throw();
      s_.wait(ended).or_throw();
    }
    const auto content = capturing::end(s_).value();
    for (const auto& each : {content, in_another_order(content, chance_)}) {
      const auto run = executable_graph::instantiate(ctx_, each).value();
      replay("captured and replayed", run, all, [&] { spoil(all); });
    }
  }

  // Launches `run` for either values, each once, so that nothing is left of an earlier replay that
  // was computed from the same; then twice, as replays follow each other.
  template <class Run>
  void replay(const std::string& way, const Run& run, const places& all,
              const std::function<void()>& before) {
    for (const auto* values : {&p_.values, &p_.others, &p_.values}) {
      fill(all, *values);
      before();
      for (const int turns : {1, 2}) {
        for (int turn = 0; turn < turns; ++turn) run.launch(s_).or_throw();
        s_.synchronize().or_throw();
        expect(way, take(all), values);
      }
    }
  }

  void described(const fusion_options& options, const std::string& way) {
    operator_graph g("random");
    auto all = prepare(p_.values);
    std::vector<operand> named(all.size());
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (all[i].empty()) continue;
      const bool constant = p_.what.tensors[i].constant;
      named[i] = (constant ? g.constant(all[i]) : g.input(all[i])).value();
    }
    for (const auto& step : p_.what.steps) {
      std::vector<operand> inputs;
      for (const auto each : step.inputs) inputs.push_back(named[each]);
      auto& output = named[step.output];
      output = g.apply(step.what, inputs, step.what.outputs.front().type).value();
      if (!p_.what.tensors[step.output].kept) continue;
      all[step.output] = make(step.output);
      g.output(output, all[step.output]).or_throw();
    }
    auto run = executable_operators::instantiate(ctx_, g, options).value();
    replay(way, run, all, [] {});
    in_all_orders(g, options, way, all);
    for (std::uint32_t i = 0; i < all.size(); ++i) {
      if (all[i].empty() || p_.what.tensors[i].constant) continue;
      all[i] = make(i);
      run.update(named[i], all[i]).or_throw();
    }
    replay(way + ", updated", run, all, [] {});
  }

  // What `executable_operators` makes of it, with its nodes in random orders.
  void in_all_orders(const operator_graph& g, const fusion_options& options,
                     const std::string& way, const places& all) {
    operator_graph_report report;
    auto fused = fuse(g.program(), options);
    auto lowered = operators::lower(ctx_, g, std::move(fused.program), report).value();
    const auto content = operators::as_graph(g.name(), lowered).value();
    for (int i = 0; i < 2; ++i) {
      const auto run =
          executable_graph::instantiate(ctx_, in_another_order(content, chance_)).value();
      replay(way + ", in another order", run, all, [] {});
    }
  }

  results as_dataflow(const values_of& values, std::span<const context> homes) {
    auto flow = dataflow::make(homes, {.streams = 3, .window = 8}).value();
    places all(p_.what.tensors.size());
    for (std::uint32_t i = 0; i < all.size(); ++i) {
      if (!values[i].empty()) all[i] = make(i, homes[chance_.below(homes.size())]);
    }
    fill(all, values);
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (p_.what.tensors[i].constant && chance_.chance(0.5)) flow.constant(all[i]).or_throw();
    }
    for (const auto& step : p_.what.steps) {
      const auto inputs = inputs_of(step, all);
      const auto home = spread_.homes[step.output];
      auto& output = all[step.output];
      if (home == step.output && step.what.name != "cast" && chance_.chance(0.3)) {
        output = flow.apply(step.what, inputs).value();
        continue;
      }
      output = home == step.output ? make(home, homes[chance_.below(homes.size())])
                                   : in_memory_of(all[home], step.output);
      flow.submit(step.what, inputs, {&output, 1}).or_throw();
    }
    flow.wait_all().or_throw();
    return take(all);
  }

  void expect(const std::string& way, const results& got, const values_of* values) {
    const auto& wanted = wanted_.at(values == &p_.values ? 0 : 1);
    for (std::size_t i = 0; i < got.size(); ++i) {
      if (!p_.what.tensors[i].kept) continue;
      const auto type = p_.what.tensors[i].layout.type;
      const auto allowed = 4 * p_.known[i].error;
      for (std::size_t k = 0; k < got[i].size() / bytes_of_element(type); ++k) {
        const auto a = element(type, got[i], k);
        const auto b = element(type, wanted[i], k);
        if (std::abs(a - b) <= allowed) continue;
        throw std::runtime_error("program " + std::to_string(p_.seed) + " " + way + ": t" +
                                 std::to_string(i) + " has " + std::to_string(a) + " at " +
                                 std::to_string(k) + ", not " + std::to_string(b) + '\n' +
                                 p_.describe());
      }
    }
  }

  const random_program& p_;
  const std::array<const values_of*, 2> given_{&p_.values, &p_.others};
  stable_random chance_;
  context ctx_;
  context far_; // on another device
  pool memory_;
  stream s_;
  std::vector<stream> lanes_;
  spread spread_;
  std::optional<spread::edge> left_out_;
  std::array<results, 2> wanted_; // of the values, and of the others
};

} // namespace

void compare_ways(const runtime& where, const random_program& p, std::uint64_t seed) {
  comparison(where, p, seed).run();
}

std::size_t order_edges(const runtime& where, const random_program& p, std::uint64_t seed) {
  return comparison(where, p, seed).edges();
}

void compare_without(const runtime& where, const random_program& p, std::uint64_t seed,
                     std::size_t edge) {
  comparison(where, p, seed).run_without(edge);
}

} // namespace troupe::equivalence
