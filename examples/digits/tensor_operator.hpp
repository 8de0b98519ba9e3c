#pragma once

#include <cstddef>
#include <dnnl.hpp>
#include <span>
#include <vector>

namespace troupe::digits {

/// The processor as oneDNN sees it. Also prepares the calling thread as `tensor_operator` says.
const dnnl::engine& cpu_engine();

/// One tensor a primitive takes: the DNNL_ARG_ number it goes by, and how it lies in memory.
struct primitive_argument {
  int id;
  dnnl::memory::desc layout;
};

/// A primitive and all that is needed to call it.
struct primitive_call {
  dnnl::primitive primitive;
  primitive_argument input;
  std::vector<primitive_argument> weights;
  primitive_argument output;
  dnnl::memory::desc scratch;
};

/// One oneDNN primitive, prepared once for fixed shapes and then run any number of times.
///
/// **Threads.** `run` may be called from several threads at once: the primitive is only read, and
/// scratch memory belongs to the calling thread. Every call computes in the calling thread alone.
/// To that end the first construction or run in a thread sets that thread's number of OpenMP
/// threads to one, and leaves it so: a team of helpers per call would take the processors from
/// whoever else computes, and oneDNN would wait for it on every small tensor.
///
/// **Layout.** Activations are NHWC: on AVX2 and AVX-512 oneDNN convolves few channels two to four
/// times as fast in it as in NCHW. Weights are passed to `run` in a *prepared* form, which may
/// differ from their plain one; `prepare_weight` makes it, once.
///
/// **Errors.** Constructors throw `dnnl::error` when oneDNN cannot serve the shape. A span of the
/// wrong size is a broken contract and terminates.
class tensor_operator {
public:
  tensor_operator(const tensor_operator&) = delete;
  tensor_operator& operator=(const tensor_operator&) = delete;
  virtual ~tensor_operator() = default;

  // -- sizes, in floats -----------------------------------------------------------------------

  std::size_t input_floats() const noexcept;
  std::size_t output_floats() const noexcept;
  std::size_t weight_count() const noexcept;

  /// Size of weight `index` in prepared form.
  std::size_t weight_floats(std::size_t index) const;

  // -- use ------------------------------------------------------------------------------------

  /// The prepared form of weight `index`, given its plain form.
  virtual std::vector<float> prepare_weight(std::size_t index, std::span<const float> plain) const;

  /// Computes `output` from `input` and the prepared weights; returns when it is written. Sizes
  /// must be those above, and `output` must not overlap the others. Nothing is kept.
  void run(std::span<const float> input, std::span<const std::span<const float>> weights,
           std::span<float> output) const;

protected:
  explicit tensor_operator(primitive_call call);

  const dnnl::memory::desc& weight_layout(std::size_t index) const;

private:
  primitive_call call_;
};

}  // namespace troupe::digits
