#include "tests/equivalence/ways.hpp"

#include <array>
#include <cmath>
#include <cstring>
#include <stdexcept>
#include <utility>

#include <gsl/gsl>

#include "core/copies/half.hpp"
#include "core/stable_hash.hpp"
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

class comparison {
public:
  comparison(const device& where, const random_program& p, std::uint64_t seed)
      : p_(p), chance_(seed), ctx_(where.create_context().value()),
        memory_(ctx_.create_pool().value()), s_(ctx_.create_stream().value()) {
    for (int i = 0; i < 3; ++i) lanes_.push_back(ctx_.create_stream().value());
  }

  void run() {
    const std::array given{&p_.values, &p_.others};
    for (std::size_t i = 0; i < given.size(); ++i) wanted_.at(i) = eager(*given.at(i));
    for (const auto* values : given) expect("over streams", over_streams(*values), values);
    captured();
    for (const auto level : {fusion_level::none, fusion_level::pairs, fusion_level::full}) {
      described({.level = level}, "fused at level " + std::to_string(static_cast<int>(level)));
    }
    const fusion_options some{.batch_norm = chance_.chance(0.5), .matmul = chance_.chance(0.5),
                              .convolution = chance_.chance(0.5),
                              .element_wise = chance_.chance(0.5), .casts = chance_.chance(0.5)};
    described(some, "fused by some passes");
    for (const auto* values : given) expect("as dataflow", as_dataflow(*values), values);
    ctx_.synchronize().or_throw();
  }

private:
  using values_of = std::vector<std::vector<float>>;

  tensor make(std::uint32_t at) {
    return tensor::make(ctx_, p_.what.tensors[at].layout).value();
  }

  void fill(const places& all, const values_of& values) {
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (!values[i].empty()) ctx_.copy(all[i].elements<float>(), values[i]).or_throw();
    }
  }

  // Tensors for what is given, filled; and for all that operators write, if asked.
  places prepare(const values_of& values, bool written) {
    places all(p_.what.tensors.size());
    for (std::uint32_t i = 0; i < all.size(); ++i) {
      if (written || !values[i].empty()) all[i] = make(i);
    }
    fill(all, values);
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
    const auto all = prepare(values, true);
    for (const auto& step : p_.what.steps) {
      run_operator(s_, memory_, step.what, inputs_of(step, all), {&all[step.output], 1}).or_throw();
    }
    s_.synchronize().or_throw();
    return take(all);
  }

  // Each operator on any stream; it waits for those that wrote what it reads.
  void submit_over_streams(const places& all) {
    std::vector<std::pair<std::size_t, event>> written(all.size());
    for (const auto& step : p_.what.steps) {
      const auto lane = chance_.below(lanes_.size());
      auto& on = lanes_[lane];
      for (const auto each : step.inputs) {
        const auto& [by, done] = written[each];
        if (done.state() && by != lane) on.wait(done).or_throw();
      }
      run_operator(on, memory_, step.what, inputs_of(step, all), {&all[step.output], 1}).or_throw();
      written[step.output] = {lane, ctx_.create_event().value()};
      on.record(written[step.output].second).or_throw();
    }
  }

  results over_streams(const values_of& values) {
    const auto all = prepare(values, true);
    submit_over_streams(all);
    for (auto& each : lanes_) each.synchronize().or_throw();
    return take(all);
  }

  void captured() {
    const auto all = prepare(p_.values, true);
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
    const auto run = executable_graph::instantiate(ctx_, capturing::end(s_).value()).value();
    for (const auto* values : {&p_.values, &p_.others, &p_.values}) {
      fill(all, *values);
      for (int turn = 0; turn < 2; ++turn) run.launch(s_).or_throw();
      s_.synchronize().or_throw();
      expect("captured and replayed", take(all), values);
    }
  }

  void described(const fusion_options& options, const std::string& way) {
    operator_graph g("random");
    auto all = prepare(p_.values, false);
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
    const auto replay = [&](const std::string& how, const values_of& values) {
      for (int turn = 0; turn < 2; ++turn) run.launch(s_).or_throw();
      s_.synchronize().or_throw();
      expect(way + how, take(all), &values);
    };
    replay("", p_.values);
    fill(all, p_.others);
    replay(", inputs changed", p_.others);
    for (std::uint32_t i = 0; i < all.size(); ++i) {
      if (all[i].empty() || p_.what.tensors[i].constant) continue;
      all[i] = make(i);
      run.update(named[i], all[i]).or_throw();
    }
    fill(all, p_.values);
    replay(", updated", p_.values);
  }

  results as_dataflow(const values_of& values) {
    auto flow = dataflow::make(ctx_, {.streams = 3, .window = 8}).value();
    auto all = prepare(values, false);
    for (const auto& step : p_.what.steps) {
      const auto inputs = inputs_of(step, all);
      const auto natural = step.what.name != "cast";
      if (natural && chance_.chance(0.5)) {
        all[step.output] = flow.apply(step.what, inputs).value();
      } else {
        all[step.output] = make(step.output);
        flow.submit(step.what, inputs, {&all[step.output], 1}).or_throw();
      }
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
  stable_random chance_;
  context ctx_;
  pool memory_;
  stream s_;
  std::vector<stream> lanes_;
  std::array<results, 2> wanted_; // of the values, and of the others
};

} // namespace

void compare_ways(const device& where, const random_program& p, std::uint64_t seed) {
  comparison(where, p, seed).run();
}

} // namespace troupe::equivalence
