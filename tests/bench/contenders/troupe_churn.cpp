// The rows about memory that comes and goes.

#include "core/device_heap.hpp"
#include "tests/bench/contenders/troupe_rows.hpp"
#include "tests/bench/contenders/troupe_session.hpp"
#include "tests/bench/measure.hpp"
#include "tests/bench/peers/allocation_trace.hpp"
#include "tests/bench/peers/filling.hpp"

#include <memory>

namespace troupe::bench::troupe_rows {

namespace {

/// The heap behind a device's memory.
struct real_heap {
  explicit real_heap(std::uint64_t bytes) : heap(bytes) {}

  std::optional<std::uint64_t> take(std::uint64_t bytes) {
    const auto got = heap.allocate(bytes);
    return got ? std::optional(got->offset) : std::nullopt;
  }
  void give(std::uint64_t place) { (void)heap.free(place); }
  [[nodiscard]] std::uint64_t largest_hole() const { return heap.current_figures().largest_hole; }

  device_heap heap;
};

}  // namespace

/// One pool for all threads, each with a stream of its own.
repetition pool_churn(const workload& w) {
  auto s = std::make_shared<troupe_session>(w.clients);
  auto blocks = s->ctx.create_pool().value();
  const auto sizes = std::make_shared<const std::vector<std::size_t>>(digits_allocations());
  return [s, blocks, sizes, w] {
    return ns_each(w.count, [&] {
      on_clients(w.clients, [&](std::size_t client) {
        churn(*sizes, w.count / w.clients, [&](std::size_t bytes) {
          return blocks.allocate<std::byte>(s->streams[client], bytes).value();
        });
      });
    });
  };
}

repetition fragmentation(const workload& w) {
  return [w] {
    real_heap heap(w.bytes);
    return fill_and_free(heap, w);
  };
}

}  // namespace troupe::bench::troupe_rows
