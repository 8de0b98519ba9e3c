#include "api/src/operators/one_thread.hpp"
#include "api/src/operators/plan.hpp"

namespace troupe::operators {
namespace {

// What a thread needs to execute. oneDNN computes with one thread in each: the device's engines are
// the parallelism, and a team of helpers per call would take the processors from them.
struct executor {
  executor() : stream(cpu()) { omp_set_num_threads(1); }
  dnnl::stream stream;
};

dnnl::memory at(const dnnl::memory::desc& layout, const std::byte* data) {
  // oneDNN has one memory type for what it reads and what it writes.
  return {layout, cpu(), const_cast<std::byte*>(data)};
}

} // namespace

const dnnl::engine& cpu() {
  static const dnnl::engine instance(dnnl::engine::kind::cpu, 0);
  return instance;
}

void execute(const plan& p, std::span<const std::byte* const> inputs, std::byte* output,
             std::byte* scratch) {
  static thread_local executor mine;
  if (p.arrange) {
    execute(*p.arrange, inputs.subspan(1, 1), scratch + p.arranged_offset, scratch);
  }
  for (const auto& each : p.stages) {
    if (each.source == plan::output) continue;
    each.copy(inputs[static_cast<std::size_t>(each.source)], scratch + each.offset);
  }
  std::vector<dnnl::memory> memories;
  std::vector<dnnl_exec_arg_t> arguments;
  memories.reserve(p.arguments.size() + 1);
  const auto pass = [&](int id, const dnnl::memory::desc& layout, const std::byte* data) {
    memories.push_back(at(layout, data));
    arguments.push_back({id, memories.back().get()});
  };
  for (const auto& each : p.arguments) {
    const auto* at = each.source == plan::staged   ? scratch + each.offset
                     : each.source == plan::output ? output
                                                   : inputs[static_cast<std::size_t>(each.source)];
    pass(each.id, each.layout, at);
  }
  if (p.scratch.get_size() != 0) pass(DNNL_ARG_SCRATCHPAD, p.scratch, scratch);
  const auto outcome = dnnl_primitive_execute(p.primitive.get(), mine.stream.get(),
                                              static_cast<int>(arguments.size()),
                                              arguments.data());
  dnnl::error::wrap_c_api(outcome, "the primitive failed");
  mine.stream.wait();
  for (const auto& each : p.stages) {
    if (each.source == plan::output) each.copy(scratch + each.offset, output);
  }
}

} // namespace troupe::operators
