#include "examples/digits/pipeline.hpp"

#include <array>

#include "examples/digits/async_graph_step.hpp"
#include "examples/digits/async_step.hpp"
#include "examples/digits/dataflow_step.hpp"
#include "examples/digits/graph_step.hpp"
#include "examples/digits/naive_step.hpp"
#include "examples/digits/pool_step.hpp"
#include "examples/digits/stream_step.hpp"

namespace troupe::digits {

namespace {

template <class Step>
std::unique_ptr<pipeline_step> make(const workshop& shop) {
  return std::make_unique<Step>(shop);
}

constexpr std::array entries{
    pipeline_entry{"naive", "each operator: allocate, copy in, launch, wait, copy back, free",
                   make<naive_step>},
    pipeline_entry{"+ pool", "tensors stay on the device, in memory of a pool; one wait a batch",
                   make<pool_step>},
    pipeline_entry{"+ streams", "batches on several streams, blocking copies", make<stream_step>},
    pipeline_entry{"+ async", "pinned buffers, asynchronous copies, bounded sets in flight",
                   make<async_step>},
    pipeline_entry{"+ fused graph", "several streams; a batch is one replay of a graph whose "
                                    "operators were put together",
                   make<graph_step>},
    pipeline_entry{"+ async graphs", "the same with pinned buffers, asynchronous copies, bounded "
                                     "sets in flight",
                   make<async_graph_step>},
    pipeline_entry{"dataflow", "beside these: no streams, no events, no graph; order found from "
                               "what operators read and write",
                   make<dataflow_step>},
};

} // namespace

std::span<const pipeline_entry> pipeline_entries() noexcept { return entries; }

} // namespace troupe::digits
