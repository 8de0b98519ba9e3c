#include "troupe/operators/run_operator.hpp"

#include <array>
#include <memory>

#include "actors/graphs/capture.hpp"
#include "api/src/operators/prepare.hpp"
#include "troupe/capture.hpp"

namespace troupe {
namespace {

using bytes_in = std::span<const std::byte>;
using operators::plan;

bool captures(const stream& s) {
  const auto seen = capturing::look(s);
  return seen && seen.value().active;
}

// A launch has a fixed number of ranges; those beyond the operator's inputs are empty.
status launch(stream& s, const task& t, std::shared_ptr<const plan> p,
              std::span<const tensor> inputs, const tensor& output,
              pool_buffer<std::byte> scratch) {
  std::array<tensor::memory, operator_inputs_max> in;
  for (std::size_t i = 0; i < inputs.size(); ++i) in[i] = inputs[i].bytes();
  // In a capture the kernel keeps its scratch memory: replays come when others would have it.
  std::shared_ptr<const pool_buffer<std::byte>> kept;
  if (capture::any() && scratch.size() != 0 && captures(s)) {
    kept = std::make_shared<const pool_buffer<std::byte>>(std::move(scratch));
  }
  const auto& used = kept ? *kept : scratch;
  const auto kernel = [p = std::move(p), kept](bytes_in a, bytes_in b, bytes_in c, bytes_in d, bytes_in e,
                                         bytes_in f, bytes_in g, bytes_in h,
                                         std::span<std::byte> out, std::span<std::byte> spare) {
    const std::array from{a.data(), b.data(), c.data(), d.data(),
                          e.data(), f.data(), g.data(), h.data()};
    operators::execute(*p, from, out.data(), spare.data());
  };
  return s.launch(t, kernel, in[0], in[1], in[2], in[3], in[4], in[5], in[6], in[7],
                  output.bytes(), used);
}

} // namespace

status run_operator(stream& s, const pool& scratch, operator_description what,
                    std::span<const tensor> inputs, std::span<const tensor> outputs,
                    call_site site) {
  auto p = operators::prepare(what, inputs, outputs);
  if (!p) return p.error();
  pool_buffer<std::byte> spare;
  if (const auto needed = p.value()->scratch_bytes; needed != 0) {
    auto got = scratch.allocate<std::byte>(s, needed);
    if (!got) return got.error();
    spare = std::move(got).value();
  }
  const task t(std::string_view(what.name), 1, site);
  return launch(s, t, std::move(p).value(), inputs, outputs.front(), std::move(spare));
}

result<tensor> apply_operator(stream& s, const pool& memory, operator_description what,
                              std::span<const tensor> inputs, call_site site) {
  operators::take_layouts(what.inputs, inputs);
  auto layout = infer_output(what);
  if (!layout) return layout.error();
  auto output = tensor::make(memory, s, std::move(layout).value());
  if (!output) return output;
  auto outcome = run_operator(s, memory, std::move(what), inputs, {&output.value(), 1}, site);
  if (!outcome.ok()) return outcome;
  return output;
}

std::size_t prepared_operators() { return operators::plans().size(); }

} // namespace troupe
