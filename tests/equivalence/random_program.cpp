#include "tests/equivalence/random_program.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "core/stable_hash.hpp"

namespace troupe::equivalence {
namespace {

constexpr double bound_max = 4'194'304; // 2^22
constexpr double rounding = 1e-6;       // of a sum or a function, by its bound; generous

class maker {
public:
  explicit maker(std::uint64_t seed) : chance_(seed) { made_.seed = seed; }

  random_program make() {
    const auto images = 1 + below(2);
    for (std::int64_t i = 0; i < images; ++i) (void)given(some_image(), false, 3);
    (void)given(plain({2 + below(3), 2 + below(6)}), false, 4);
    const auto operators = 4 + chance_.below(12);
    while (made_.what.steps.size() < operators) add_operator();
    keep_outputs();
    return std::move(made_);
  }

private:
  using index = std::uint32_t;
  using facts = random_program::facts;
  using attributes = decltype(operator_description::attributes);

  std::int64_t below(std::int64_t limit) {
    return static_cast<std::int64_t>(chance_.below(static_cast<std::uint64_t>(limit)));
  }

  static tensor_layout plain(dimensions shape) {
    return tensor_layout::make(element_type::f32, std::move(shape)).value();
  }

  tensor_layout some_image() {
    const dimensions shape{1 + below(2), 2 * (1 + below(3)), 3 + below(4), 3 + below(4)};
    if (chance_.chance(0.5)) return plain(shape);
    return tensor_layout::channels_last(element_type::f32, shape).value();
  }

  std::vector<float> numbers(std::int64_t count, std::int64_t range) {
    std::vector<float> all(static_cast<std::size_t>(count));
    for (auto& each : all) each = static_cast<float>(below(2 * range + 1) - range);
    return all;
  }

  index given(tensor_layout layout, bool constant, std::int64_t range) {
    const auto count = layout.elements();
    const auto at = made_.what.add({std::move(layout), constant, false});
    made_.known.push_back({static_cast<double>(range), 0});
    made_.values.push_back(numbers(count, range));
    made_.others.push_back(constant ? made_.values.back() : numbers(count, range));
    return at;
  }

  index given_of(std::vector<float> values, bool constant, double bound) {
    const auto at = given(plain({static_cast<std::int64_t>(values.size())}), constant, 1);
    made_.values[at] = made_.others[at] = std::move(values);
    made_.known[at].bound = bound;
    return at;
  }

  // Adds an operator if its results stay small enough.
  std::optional<index> call(const std::string& name, std::vector<index> inputs, facts known,
                            attributes with = {}, std::optional<element_type> type = {}) {
    if (known.bound > bound_max) return std::nullopt;
    const auto at = made_.what.call(name, std::move(inputs), std::move(with), type).value();
    made_.known.push_back(known);
    made_.values.emplace_back();
    made_.others.emplace_back();
    return at;
  }

  // Late ones more often, so that chains come about.
  index pick() {
    const auto count = made_.what.tensors.size();
    const auto back = std::min(chance_.below(count), chance_.below(count));
    return static_cast<index>(count - 1 - std::min<std::uint64_t>(back, chance_.below(count)));
  }

  const tensor_layout& layout(index of) const { return made_.what.tensors[of].layout; }

  void add_operator() {
    const auto x = pick();
    if (layout(x).type != element_type::f32 || made_.what.tensors[x].constant) return;
    const auto rank = layout(x).shape.size();
    switch (chance_.below(10)) {
      case 0: activate(x); break;
      case 1:
      case 2: combine(x); break;
      case 3: bias(x); break;
      case 4: there_and_back(x); break;
      case 5: move(x); break;
      case 6: reduce(x); break;
      default: rank == 4 ? image_operator(x) : product(x); break;
    }
  }

  void activate(index x) {
    constexpr std::array names{"relu", "relu", "relu", "tanh", "sigmoid", "gelu", "silu"};
    const std::string name = names.at(chance_.below(names.size()));
    auto known = made_.known[x];
    if (name != "relu") known.error = 1.2 * known.error + rounding * (known.bound + 1);
    if (name == "tanh" || name == "sigmoid") known.bound = 1;
    (void)call(name, {x}, known);
  }

  // With another tensor of its shape, or with a new one that broadcasts to it. Not with itself: what
  // comes of x - x is the same whatever x is.
  void combine(index x) {
    constexpr std::array names{"add", "add", "sub", "mul"};
    const std::string name = names.at(chance_.below(names.size()));
    auto other = pick();
    if (other == x || layout(other).shape != layout(x).shape ||
        layout(other).type != element_type::f32) {
      auto shape = layout(x).shape;
      for (auto& each : shape) {
        if (chance_.chance(0.4)) each = 1;
      }
      other = given(plain(std::move(shape)), chance_.chance(0.5), 3);
    }
    const auto& a = made_.known[x];
    const auto& b = made_.known[other];
    facts known{a.bound + b.bound, a.error + b.error};
    if (name == "mul") known = {a.bound * b.bound, a.error * b.bound + b.error * a.bound};
    if (known.error > 0) known.error += rounding * known.bound;
    const bool turned = chance_.chance(0.5);
    (void)call(name, {turned ? other : x, turned ? x : other}, known);
  }

  void bias(index x) {
    const auto& shape = layout(x).shape;
    const auto axis = below(static_cast<std::int64_t>(shape.size()));
    const auto length = shape[static_cast<std::size_t>(axis)];
    const auto with = given(plain({length}), chance_.chance(0.7), 5);
    auto known = made_.known[x];
    known.bound += 5;
    if (known.error > 0) known.error += rounding * known.bound;
    (void)call("bias_add", {x, with}, known, {{"axis", axis}});
  }

  // Rounding to another type is the same everywhere, where what is rounded is.
  void there_and_back(index x) {
    auto known = made_.known[x];
    if (known.error > 0) return;
    constexpr std::array types{element_type::f16, element_type::bf16, element_type::s8};
    const auto type = types.at(chance_.below(types.size()));
    if (type == element_type::f16 && known.bound > 30'000) return;
    if (type == element_type::s8) known.bound = std::min(known.bound, 128.0);
    known.bound *= 1.01;
    const auto narrow = call("cast", {x}, known, {}, type);
    if (narrow) (void)call("cast", {*narrow}, known, {}, element_type::f32);
  }

  void move(index x) {
    const auto rank = layout(x).shape.size();
    if (rank > 2 || chance_.chance(0.4)) {
      const auto rows = layout(x).shape.front();
      (void)call("reshape", {x}, made_.known[x], {{"shape", dimensions{rows, -1}}});
    } else if (rank == 2 && chance_.chance(0.5)) {
      (void)call("transpose", {x}, made_.known[x], {{"permutation", dimensions{1, 0}}});
    } else {
      (void)call("concat", {x, x}, made_.known[x], {{"axis", std::int64_t{0}}});
    }
  }

  void reduce(index x) {
    const auto axis = below(static_cast<std::int64_t>(layout(x).shape.size()));
    const auto length = static_cast<double>(layout(x).shape[static_cast<std::size_t>(axis)]);
    auto known = made_.known[x];
    const bool sum = chance_.chance(0.5);
    if (sum) known = {known.bound * length, known.error * length};
    if (known.error > 0) known.error += rounding * known.bound;
    (void)call(sum ? "reduce_sum" : "reduce_max", {x}, known, {{"axes", dimensions{axis}}});
  }

  void product(index x) {
    const auto& shape = layout(x).shape;
    if (shape.size() != 2) return;
    const auto terms = static_cast<double>(shape[1]);
    const auto right = given(plain({shape[1], 1 + below(6)}), chance_.chance(0.7), 2);
    auto known = made_.known[x];
    known = {known.bound * terms * 2, known.error * terms * 2};
    if (known.error > 0) known.error += rounding * known.bound;
    (void)call("matmul", {x, right}, known);
  }

  void image_operator(index x) {
    const auto shape = layout(x).shape;
    const auto what = chance_.below(4);
    if (what == 0) return normalise(x);
    if (what == 1) {
      if (shape[2] >= 2 && shape[3] >= 2) {
        (void)call("max_pool", {x}, made_.known[x], {{"kernel", dimensions{2, 2}}});
      }
      return;
    }
    const auto groups = shape[1] % 2 == 0 && chance_.chance(0.3) ? 2 : 1;
    const auto size = shape[2] >= 3 && shape[3] >= 3 && chance_.chance(0.7) ? 3 : 1;
    const auto outputs = 2 * (1 + below(4));
    const auto weight = given(plain({outputs, shape[1] / groups, size, size}),
                              chance_.chance(0.8), 1);
    std::vector<index> inputs{x, weight};
    if (chance_.chance(0.3)) inputs.push_back(given(plain({outputs}), chance_.chance(0.7), 5));
    const auto terms = static_cast<double>(shape[1] / groups * size * size);
    auto known = made_.known[x];
    known = {known.bound * terms + 5, known.error * terms};
    if (known.error > 0) known.error += rounding * known.bound;
    const auto seen = call("conv2d", inputs, known,
                           {{"padding", dimensions{size / 2, size / 2}}, {"groups", groups}});
    if (seen && chance_.chance(0.5)) normalise(*seen);
  }

  // Scales and deviations are powers of 2, so that this is exact as well.
  void normalise(index x) {
    const auto channels = static_cast<std::size_t>(layout(x).shape[1]);
    const bool constant = chance_.chance(0.8);
    std::vector<float> scale(channels);
    std::vector<float> variance(channels);
    for (auto& each : scale) each = chance_.chance(0.5) ? -1.F : 2.F;
    for (auto& each : variance) each = chance_.chance(0.5) ? 1.F : 0.25F;
    const auto length = static_cast<std::int64_t>(channels);
    const auto factors = given_of(scale, constant, 2);
    const auto shift = given(plain({length}), constant, 4);
    const auto mean = given(plain({length}), constant, 4);
    const auto spread = given_of(variance, constant, 1);
    auto known = made_.known[x];
    known = {(known.bound + 4) * 4 + 4, known.error * 4};
    if (known.error > 0) known.error += rounding * known.bound;
    (void)call("batch_norm", {x, factors, shift, mean, spread}, known, {{"epsilon", 0.0}});
  }

  // What nobody reads, and some of the rest.
  void keep_outputs() {
    auto& program = made_.what;
    std::vector<bool> read(program.tensors.size(), false);
    for (const auto& step : program.steps) {
      for (const auto each : step.inputs) read[each] = true;
    }
    for (const auto& step : program.steps) {
      program.tensors[step.output].kept = !read[step.output] || chance_.chance(0.15);
    }
  }

  stable_random chance_;
  random_program made_;
};

} // namespace

std::string random_program::describe() const {
  std::string text;
  for (const auto& step : what.steps) {
    text += "  t" + std::to_string(step.output) + (what.tensors[step.output].kept ? "*" : "");
    text += " = " + to_text(step.what) + " of";
    for (const auto each : step.inputs) {
      text += " t" + std::to_string(each) + (what.tensors[each].constant ? "(constant)" : "");
    }
    text += '\n';
  }
  return text;
}

random_program make_program(std::uint64_t seed) { return maker(seed).make(); }

} // namespace troupe::equivalence
