#include "tests/bench/peers/digits_loop.hpp"

#include "tests/bench/digits_net.hpp"

#include <dnnl.hpp>
#include <gsl/gsl>

#include <cmath>
#include <cstring>
#include <stdexcept>
#include <unordered_map>
#include <utility>
#include <vector>

// Declared here as clang finds no <omp.h> of the library that Debian's oneDNN is linked with.
extern "C" void omp_set_num_threads(int count);

namespace troupe::bench {

namespace {

using arguments = std::unordered_map<int, dnnl::memory>;
using tag = dnnl::memory::format_tag;

dnnl::memory::desc shape(std::size_t rows, std::size_t columns) {
  return {{gsl::narrow<dnnl::memory::dim>(rows), gsl::narrow<dnnl::memory::dim>(columns)},
          dnnl::memory::data_type::f32, tag::ab};
}

dnnl::memory filled(const dnnl::memory::desc& desc, const dnnl::engine& engine,
                    const std::vector<float>& values) {
  dnnl::memory result(desc, engine);
  Expects(values.size() * sizeof(float) == desc.get_size());
  std::memcpy(result.get_data_handle(), values.data(), desc.get_size());
  return result;
}

/// A dense layer: output = input x weights + bias, cut off below zero if `relu`.
dnnl::matmul dense(const dnnl::engine& engine, const dnnl::memory& input,
                   const dnnl::memory& weights, const dnnl::memory& bias,
                   const dnnl::memory& output, bool relu) {
  dnnl::primitive_attr attributes;
  if (relu) {
    dnnl::post_ops after;
    after.append_eltwise(1.0f, dnnl::algorithm::eltwise_relu, 0.0f, 0.0f);
    attributes.set_post_ops(after);
  }
  const dnnl::matmul::desc desc(input.get_desc(), weights.get_desc(), bias.get_desc(),
                                output.get_desc());
  return dnnl::matmul({desc, attributes, engine});
}

}  // namespace

struct digits_loop::network {
  dnnl::engine engine{dnnl::engine::kind::cpu, 0};
  dnnl::stream stream{engine};
  dnnl::memory images =
    filled(shape(digits::batch, digits::pixels), engine,
           digits::values(digits::batch * digits::pixels, 1));
  dnnl::memory hidden{shape(digits::batch, digits::hidden), engine};
  dnnl::memory scores{shape(digits::batch, digits::classes), engine};
  std::vector<std::pair<dnnl::primitive, arguments>> steps;

  network() {
    add_dense(images, hidden, digits::pixels, digits::hidden, true);
    add_dense(hidden, scores, digits::hidden, digits::classes, false);
    const dnnl::softmax_forward::desc softmax(dnnl::prop_kind::forward_inference,
                                              scores.get_desc(), 1);
    steps.emplace_back(dnnl::softmax_forward({softmax, engine}),
                       arguments{{DNNL_ARG_SRC, scores}, {DNNL_ARG_DST, scores}});
  }

  void add_dense(const dnnl::memory& input, const dnnl::memory& output, std::size_t inputs,
                 std::size_t outputs, bool relu) {
    auto weights = filled(shape(inputs, outputs), engine, digits::values(inputs * outputs, 2));
    auto bias = filled(shape(1, outputs), engine, digits::values(outputs, 3));
    steps.emplace_back(dense(engine, input, weights, bias, output, relu),
                       arguments{{DNNL_ARG_SRC, input},
                                 {DNNL_ARG_WEIGHTS, weights},
                                 {DNNL_ARG_BIAS, bias},
                                 {DNNL_ARG_DST, output}});
  }
};

digits_loop::digits_loop() {
  // The layers are too small to share: a second thread costs more than it brings.
  omp_set_num_threads(1);
  network_ = std::make_unique<network>();
}

digits_loop::~digits_loop() = default;

void digits_loop::classify(std::size_t images) {
  for (std::size_t done = 0; done < images; done += digits::batch) {
    for (const auto& [primitive, args] : network_->steps)
      primitive.execute(network_->stream, args);
    network_->stream.wait();
  }
  // A loop that computes nonsense must not set the mark: the classes' shares add up to one.
  const auto* shares = static_cast<const float*>(network_->scores.get_data_handle());
  float sum = 0;
  for (std::size_t i = 0; i < digits::classes; ++i)
    sum += shares[i];
  if (std::abs(sum - 1.0f) > 1e-3f)
    throw std::runtime_error("the digits network computes nonsense");
}

}  // namespace troupe::bench
