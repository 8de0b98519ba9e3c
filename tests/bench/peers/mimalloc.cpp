#include "tests/bench/measure.hpp"
#include "tests/bench/peers/allocation_trace.hpp"
#include "tests/bench/peers/peers.hpp"

#include <dlfcn.h>

#include <memory>
#include <new>

namespace troupe::bench {

namespace {

/// Loaded for itself: linked to the program it would be everybody's malloc.
struct mimalloc {
  void* (*allocate)(std::size_t) = nullptr;
  void (*free)(void*) = nullptr;

  static const mimalloc& loaded() {
    static const mimalloc made;
    return made;
  }

private:
  mimalloc() {
    void* library = dlopen("libmimalloc.so.2", RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr)
      throw unavailable("there is no libmimalloc.so.2");
    allocate = reinterpret_cast<decltype(allocate)>(dlsym(library, "mi_malloc"));
    free = reinterpret_cast<decltype(free)>(dlsym(library, "mi_free"));
    if (allocate == nullptr || free == nullptr)
      throw unavailable("libmimalloc.so.2 has no mi_malloc and mi_free");
  }
};

struct give_back {
  void (*free)(void*) = nullptr;
  void operator()(void* block) const { free(block); }
};

repetition pool_churn(const workload& w) {
  const auto& library = mimalloc::loaded();
  const auto sizes = std::make_shared<const std::vector<std::size_t>>(digits_allocations());
  return [&library, sizes, w] {
    return ns_each(w.count, [&] {
      on_clients(w.clients, [&](std::size_t) {
        churn(*sizes, w.count / w.clients, [&](std::size_t bytes) {
          void* block = library.allocate(bytes);
          if (block == nullptr)
            throw std::bad_alloc();
          asm volatile("" : : "r"(block) : "memory");
          return std::unique_ptr<void, give_back>(block, give_back{library.free});
        });
      });
    });
  };
}

}  // namespace

contender mimalloc_peer() {
  return {"mimalloc", {{"pool_churn", pool_churn}}};
}

}  // namespace troupe::bench
