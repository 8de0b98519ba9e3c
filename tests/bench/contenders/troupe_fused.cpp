#include "tests/bench/contenders/troupe_rows.hpp"
#include "tests/bench/contenders/troupe_session.hpp"
#include "tests/bench/measure.hpp"
#include "tests/bench/peers/fused_work.hpp"
#include "troupe/operators/executable_operators.hpp"

#include <array>
#include <cmath>
#include <memory>
#include <string_view>
#include <utility>

namespace troupe::bench::troupe_rows {

namespace {

using work = fused_work;

/// An operator graph, how it is put together, and the stream that it is replayed on.
struct described {
  tensor put(tensor_layout layout, const std::vector<float>& values) {
    auto made = tensor::make(session.ctx, std::move(layout)).value();
    session.ctx.copy(made.elements<float>(), values).or_throw();
    return made;
  }

  tensor some(tensor_layout layout) {
    const auto count = layout.elements();
    return put(std::move(layout), work::numbers(count));
  }

  operand constant(dimensions shape) {
    return g.constant(some(tensor_layout::make(element_type::f32, std::move(shape)).value()))
      .value();
  }

  operand call(std::string_view name, const std::vector<operand>& inputs,
               decltype(operator_description::attributes) attributes = {}) {
    return g.apply({std::string(name), std::move(attributes), {}, {}}, inputs).value();
  }

  repetition replays(const operand& result, fusion_level level, const workload& w) {
    auto to = tensor::make(session.ctx, g.program().tensors[result.index].layout).value();
    g.output(result, to).or_throw();
    run = executable_operators::instantiate(session.ctx, g, {.level = level}).value();
    return [this, w] {
      return ns_each(w.count, [&] {
        for (std::size_t i = 0; i < w.count; ++i)
          run.launch(session.streams.front()).or_throw();
        session.sync_all();
      });
    };
  }

  troupe_session session{1};
  operator_graph g;
  executable_operators run;
};

repetition keep_alive(const std::shared_ptr<described>& made, repetition measured) {
  return [made, measured = std::move(measured)] { return measured(); };
}

repetition mlp(const workload& w, fusion_level level) {
  auto made = std::make_shared<described>();
  auto& d = *made;
  auto x = d.g.input(d.some(tensor_layout::make(element_type::f32, {work::rows, work::width})
                              .value()))
             .value();
  for (int layer = 0; layer < 2; ++layer) {
    x = d.call("matmul", {x, d.constant({work::width, work::width})});
    x = d.call("gelu", {d.call("bias_add", {x, d.constant({work::width})})});
  }
  return keep_alive(made, d.replays(x, level, w));
}

repetition conv(const workload& w, fusion_level level) {
  auto made = std::make_shared<described>();
  auto& d = *made;
  constexpr auto c = work::channels;
  const auto image = tensor_layout::channels_last(element_type::f32,
                                                  {work::images, c, work::side, work::side});
  auto x = d.g.input(d.some(image.value())).value();
  x = d.call("conv2d", {x, d.constant({c, c, 3, 3})}, {{"padding", dimensions{1, 1}}});
  const auto ones = std::vector<float>(static_cast<std::size_t>(c), 1.F);
  const auto variance =
    d.g.constant(d.put(tensor_layout::make(element_type::f32, {c}).value(), ones)).value();
  x = d.call("batch_norm", {x, d.constant({c}), d.constant({c}), d.constant({c}), variance},
             {{"epsilon", double{work::epsilon}}});
  return keep_alive(made, d.replays(d.call("relu", {x}), level, w));
}

}  // namespace

repetition fused_mlp(const workload& w) { return mlp(w, fusion_level::full); }
repetition unfused_mlp(const workload& w) { return mlp(w, fusion_level::none); }
repetition fused_conv(const workload& w) { return conv(w, fusion_level::full); }
repetition unfused_conv(const workload& w) { return conv(w, fusion_level::none); }

}  // namespace troupe::bench::troupe_rows
