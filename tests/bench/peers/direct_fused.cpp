#include "tests/bench/peers/direct_fused.hpp"

#include "examples/digits/tensor_operator.hpp"
#include "tests/bench/measure.hpp"
#include "tests/bench/peers/fused_work.hpp"

#include <dnnl.hpp>

#include <cmath>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

namespace troupe::bench {

namespace {

using work = fused_work;
using desc = dnnl::memory::desc;
using tag = dnnl::memory::format_tag;
constexpr auto f32 = dnnl::memory::data_type::f32;

/// A primitive with everything bound to it before the clock starts.
struct bound_primitive {
  dnnl::primitive primitive;
  std::unordered_map<int, dnnl::memory> arguments;
};

dnnl::memory filled(const desc& layout, const std::vector<float>& values) {
  dnnl::memory made{layout, digits::cpu_engine()};
  std::copy(values.begin(), values.end(), static_cast<float*>(made.get_data_handle()));
  return made;
}

/// Weights in the order that the primitive likes best.
dnnl::memory arranged(const desc& plain, const desc& wanted, const std::vector<float>& values) {
  auto from = filled(plain, values);
  dnnl::memory to{wanted, digits::cpu_engine()};
  dnnl::stream s{digits::cpu_engine()};
  dnnl::reorder{from, to}.execute(s, from, to);
  s.wait();
  return to;
}

dnnl::primitive_attr with_post(dnnl::algorithm what) {
  dnnl::post_ops after;
  after.append_eltwise(1.F, what, 0.F, 0.F);
  dnnl::primitive_attr made;
  made.set_post_ops(after);
  return made;
}

repetition runs(std::vector<bound_primitive> all, const workload& w) {
  auto kept = std::make_shared<std::vector<bound_primitive>>(std::move(all));
  return [kept, w] {
    dnnl::stream s{digits::cpu_engine()};
    return ns_each(w.count, [&] {
      for (std::size_t i = 0; i < w.count; ++i) {
        for (const auto& each : *kept)
          each.primitive.execute(s, each.arguments);
      }
      s.wait();
    });
  };
}

}  // namespace

repetition direct_mlp(const workload& w) {
  const desc values{{work::rows, work::width}, f32, tag::ab};
  const desc plain{{work::width, work::width}, f32, tag::ab};
  const desc any{{work::width, work::width}, f32, tag::any};
  const desc bias{{1, work::width}, f32, tag::ab};
  auto x = filled(values, work::numbers(work::rows * work::width));
  std::vector<bound_primitive> layers;
  for (int layer = 0; layer < 2; ++layer) {
    const dnnl::matmul::primitive_desc chosen{{values, any, bias, values},
                                              with_post(dnnl::algorithm::eltwise_gelu_erf),
                                              digits::cpu_engine()};
    const dnnl::memory y{values, digits::cpu_engine()};
    layers.push_back(
      {dnnl::matmul{chosen},
       {{DNNL_ARG_SRC, x},
        {DNNL_ARG_WEIGHTS,
         arranged(plain, chosen.weights_desc(), work::numbers(work::width * work::width))},
        {DNNL_ARG_BIAS, filled(bias, work::numbers(work::width))},
        {DNNL_ARG_DST, y}}});
    x = y;
  }
  return runs(std::move(layers), w);
}

repetition direct_conv(const workload& w) {
  constexpr auto c = work::channels;
  const desc images{{work::images, c, work::side, work::side}, f32, tag::nhwc};
  const desc plain{{c, c, 3, 3}, f32, tag::oihw};
  const desc any{{c, c, 3, 3}, f32, tag::any};
  const desc bias{{c}, f32, tag::a};
  // The normalisation in the weights: the variance is 1.
  auto weights = work::numbers(c * c * 9);
  const auto norm = work::numbers(c);
  std::vector<float> shift(norm.size());
  const auto each = weights.size() / norm.size();
  for (std::size_t i = 0; i < norm.size(); ++i) {
    const auto factor = norm[i] / std::sqrt(1.F + work::epsilon);
    for (std::size_t k = i * each; k < (i + 1) * each; ++k)
      weights[k] *= factor;
    shift[i] = norm[i] - norm[i] * factor;
  }
  const dnnl::memory::dims one{1, 1};
  const dnnl::convolution_forward::primitive_desc chosen{
    {dnnl::prop_kind::forward_inference, dnnl::algorithm::convolution_direct, images, any, bias,
     images, one, one, one},
    with_post(dnnl::algorithm::eltwise_relu),
    digits::cpu_engine()};
  return runs({{dnnl::convolution_forward{chosen},
                {{DNNL_ARG_SRC, filled(images, work::numbers(work::images * c * work::side *
                                                             work::side))},
                 {DNNL_ARG_WEIGHTS, arranged(plain, chosen.weights_desc(), weights)},
                 {DNNL_ARG_BIAS, filled(bias, shift)},
                 {DNNL_ARG_DST, dnnl::memory{images, digits::cpu_engine()}}}}},
              w);
}

}  // namespace troupe::bench
