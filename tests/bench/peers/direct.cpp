#include "examples/digits/bare_loop.hpp"
#include "tests/bench/host_pages.hpp"
#include "tests/bench/measure.hpp"
#include "tests/bench/peers/allocation_trace.hpp"
#include "tests/bench/peers/digits_work.hpp"
#include "tests/bench/peers/direct_fused.hpp"
#include "tests/bench/peers/kernel.hpp"
#include "tests/bench/peers/peers.hpp"

#include <sys/mman.h>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <stdexcept>
#include <vector>

namespace troupe::bench {

namespace {

struct alignas(64) counter {
  std::atomic<std::size_t> done{0};
};

/// The compiler must take `pointer` for used and all memory for changed.
void keep(const void* pointer) {
  asm volatile("" : : "r"(pointer) : "memory");
}

void* map_pages(std::size_t bytes) {
  void* pages = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (pages == MAP_FAILED)
    throw std::bad_alloc();
  return pages;
}

repetition launches(const workload& w) {
  // A launch touches its stream's own state, also when there are thousands of them.
  auto counters = std::make_shared<std::vector<counter>>(w.streams);
  return [counters, w] {
    return ns_each(w.count, [&] {
      for (std::size_t i = 0, stream = 0; i < w.count; ++i) {
        nop_kernel(nullptr);
        (*counters)[stream].done.store(i, std::memory_order_release);
        if (++stream == w.streams)
          stream = 0;
      }
    });
  };
}

repetition client_launches(const workload& w) {
  auto counters = std::make_shared<std::vector<counter>>(w.clients);
  return [counters, w] {
    return ns_each(w.count, [&] {
      on_clients(w.clients, [&](std::size_t client) {
        for (std::size_t i = 0; i < w.count / w.clients; ++i) {
          nop_kernel(nullptr);
          (*counters)[client].done.store(i, std::memory_order_release);
        }
      });
    });
  };
}

repetition event_chain(const workload& w) {
  auto recorded = std::make_shared<counter>();
  return [recorded, w] {
    return ns_each(w.count, [&] {
      for (std::size_t i = 0; i < w.count; ++i) {
        nop_kernel(nullptr);
        recorded->done.store(i, std::memory_order_release);
        if (recorded->done.load(std::memory_order_acquire) == i)
          nop_kernel(nullptr);
      }
    });
  };
}

repetition idle_sync(const workload& w) {
  auto published = std::make_shared<counter>();
  return [published, w] {
    return ns_each(w.count, [&] {
      for (std::size_t i = 0; i < w.count; ++i)
        if (published->done.load(std::memory_order_acquire) != 0)
          throw std::logic_error("an idle stream has moved");
    });
  };
}

repetition event_record(const workload& w) {
  auto ticket = std::make_shared<counter>();
  return [ticket, w] {
    return ns_each(w.count, [&] {
      for (std::size_t i = 0; i < w.count; ++i)
        ticket->done.store(i, std::memory_order_release);
    });
  };
}

repetition alloc_free(const workload& w) {
  return [w] {
    return ns_each(w.count, [&] {
      for (std::size_t i = 0; i < w.count; ++i) {
        void* block = std::malloc(w.bytes);
        keep(block);
        std::free(block);
      }
    });
  };
}

/// Fresh pages each time, in the cheapest way that the kernel offers: within one huge page.
repetition alloc_cleared(const workload& w) {
  constexpr std::size_t huge_page = 2u << 20;
  Expects(w.bytes <= huge_page);
  return [w] {
    return ns_each(w.count, [&] {
      for (std::size_t i = 0; i < w.count; ++i) {
        void* pages = map_pages(2 * huge_page);
        void* aligned = pages;
        std::size_t space = 2 * huge_page;
        std::align(huge_page, huge_page, aligned, space);
        madvise(aligned, huge_page, MADV_HUGEPAGE);
        std::memset(aligned, 0, w.bytes);
        keep(aligned);
        munmap(pages, 2 * huge_page);
      }
    });
  };
}

struct unmap {
  std::size_t bytes = 0;
  void operator()(void* pages) const { munmap(pages, bytes); }
};

/// Pages that are mapped and never touched.
repetition pool_churn(const workload& w) {
  const auto sizes = std::make_shared<const std::vector<std::size_t>>(digits_allocations());
  return [sizes, w] {
    return ns_each(w.count, [&] {
      on_clients(w.clients, [&](std::size_t) {
        churn(*sizes, w.count / w.clients, [](std::size_t bytes) {
          return std::unique_ptr<void, unmap>(map_pages(bytes), unmap{bytes});
        });
      });
    });
  };
}

repetition copy(const workload& w) {
  const auto from = host_pages(w.bytes);
  const auto to = host_pages(w.bytes);
  return [from, to, w] {
    return ns_each(w.count, [&] {
      for (std::size_t i = 0; i < w.count; ++i) {
        std::memcpy(to.data(), from.data(), w.bytes);
        keep(to.data());
      }
    });
  };
}

repetition copy_pieces(const workload& w) {
  const auto from = host_pages(w.bytes);
  const auto to = host_pages(w.bytes);
  return [from, to, w] {
    constexpr std::size_t piece = 4'096;
    return ns_each(w.count, [&] {
      for (std::size_t i = 0; i < w.count; ++i) {
        for (auto at = w.bytes; at >= piece; at -= piece)
          std::memcpy(to.data() + at - piece, from.data() + at - piece, piece);
        keep(to.data());
      }
    });
  };
}

#if defined(__x86_64__)

[[gnu::target("avx2,f16c")]] void halve(const float* from, std::uint16_t* to, std::size_t count) {
  for (std::size_t i = 0; i + 8 <= count; i += 8) {
    const auto eight = _mm256_cvtps_ph(_mm256_loadu_ps(from + i), _MM_FROUND_TO_NEAREST_INT);
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to + i), eight);
  }
}

/// What one writes with the instructions for it; where there are none, there is no such loop.
repetition convert_halves(const workload& w) {
  const auto from = host_pages(w.bytes);
  const auto to = host_pages(w.bytes / 2);
  return [from, to, w] {
    return ns_each(w.count, [&] {
      for (std::size_t i = 0; i < w.count; ++i) {
        halve(reinterpret_cast<const float*>(from.data()),
              reinterpret_cast<std::uint16_t*>(to.data()), w.bytes / sizeof(float));
        keep(to.data());
      }
    });
  };
}

#endif

repetition idle(const workload& w) {
  return [w] { return idle_cpu_percent(w.seconds); };
}

/// The clock of the loop itself, as its buffers are made and warmed outside of the measured time.
repetition digits_loop(const workload& w) {
  auto work = std::make_shared<digits_work>(w.count);
  return [work, w] {
    const auto done = digits::run_bare_loop(*work->net, work->images);
    return gsl::narrow_cast<double>(w.count) / done.seconds;
  };
}

}  // namespace

contender direct_peer() {
  return {"direct",
          {{"launch_throughput", launches},
           {"launch_sync", launches},
           {"event_chain", event_chain},
           {"idle_sync", idle_sync},
           {"event_record", event_record},
           {"pool_alloc_free_1m", alloc_free},
           {"pool_churn", pool_churn},
           {"alloc_1m_cleared", alloc_cleared},
           {"copy_h2d_4k", copy},
           {"copy_h2d_1m", copy},
           {"copy_h2d_64m", copy},
           {"copy_d2h_1m", copy},
           {"copy_batch_1000x4k", copy_pieces},
#if defined(__x86_64__)
           {"convert_f32_f16_16m", convert_halves},
#endif
           {"streams_1", launches},
           {"streams_100", launches},
           {"streams_10000", launches},
           {"clients_1", client_launches},
           {"clients_4", client_launches},
           {"idle_cpu", idle},
           {"fused_mlp", direct_mlp},
           {"fused_conv", direct_conv},
           {"digits_pipeline", digits_loop}}};
}

}  // namespace troupe::bench
