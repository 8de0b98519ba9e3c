#include "examples/digits/pipeline.hpp"

#include <array>

#include "examples/digits/async_step.hpp"
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
};

} // namespace

std::span<const pipeline_entry> pipeline_entries() noexcept { return entries; }

} // namespace troupe::digits
