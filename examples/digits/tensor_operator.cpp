#include "examples/digits/tensor_operator.hpp"

#include <gsl/gsl>
#include <unordered_map>
#include <utility>

// Declared here because clang finds no omp.h without its own OpenMP runtime, which would be the
// wrong one: the setting must reach libgomp, which Debian's oneDNN uses.
extern "C" void omp_set_num_threads(int count);

namespace troupe::digits {

namespace {

const dnnl::engine& cpu() {
  static const dnnl::engine instance{dnnl::engine::kind::cpu, 0};
  return instance;
}

/// What a thread needs to execute primitives. Scratch memory can be shared by all operators,
/// because a thread runs one at a time and waits for it.
struct thread_context {
  thread_context() {
    omp_set_num_threads(1);
  }

  void* scratch(std::size_t bytes) {
    if (scratch_.size() < bytes)
      scratch_.resize(bytes);
    return scratch_.data();
  }

  dnnl::stream stream{cpu()};

private:
  std::vector<std::byte> scratch_;
};

thread_context& this_thread() {
  static thread_local thread_context instance;
  return instance;
}

std::size_t floats(const dnnl::memory::desc& layout) {
  return layout.get_size() / sizeof(float);
}

/// oneDNN has one memory type for what it reads and for what it writes.
dnnl::memory view(const dnnl::memory::desc& layout, std::span<const float> values) {
  Expects(values.size() == floats(layout));
  return {layout, cpu(), const_cast<float*>(values.data())};
}

}  // namespace

const dnnl::engine& cpu_engine() {
  this_thread();
  return cpu();
}

tensor_operator::tensor_operator(primitive_call call) : call_(std::move(call)) {
}

std::size_t tensor_operator::input_floats() const noexcept {
  return floats(call_.input.layout);
}

std::size_t tensor_operator::output_floats() const noexcept {
  return floats(call_.output.layout);
}

std::size_t tensor_operator::weight_count() const noexcept {
  return call_.weights.size();
}

std::size_t tensor_operator::weight_floats(std::size_t index) const {
  return floats(weight_layout(index));
}

std::vector<float> tensor_operator::prepare_weight(std::size_t index,
                                                   std::span<const float> plain) const {
  Expects(plain.size() == weight_floats(index));
  return {plain.begin(), plain.end()};
}

void tensor_operator::run(std::span<const float> input,
                          std::span<const std::span<const float>> weights,
                          std::span<float> output) const {
  Expects(weights.size() == call_.weights.size());
  auto& thread = this_thread();
  std::unordered_map<int, dnnl::memory> arguments;
  arguments.emplace(call_.input.id, view(call_.input.layout, input));
  arguments.emplace(call_.output.id, view(call_.output.layout, output));
  for (std::size_t index = 0; index < weights.size(); ++index)
    arguments.emplace(call_.weights[index].id, view(call_.weights[index].layout, weights[index]));
  if (const auto bytes = call_.scratch.get_size(); bytes > 0)
    arguments.emplace(DNNL_ARG_SCRATCHPAD,
                      dnnl::memory{call_.scratch, cpu(), thread.scratch(bytes)});
  call_.primitive.execute(thread.stream, arguments);
  thread.stream.wait();
}

const dnnl::memory::desc& tensor_operator::weight_layout(std::size_t index) const {
  Expects(index < call_.weights.size());
  return call_.weights[index].layout;
}

}  // namespace troupe::digits
