#pragma once

#include <atomic>

namespace troupe::bench {

/// The empty kernel, called through a pointer that the compiler cannot see through.
using kernel_fn = void (*)(void*);

inline void nop(void*) {}

inline kernel_fn volatile nop_kernel = &nop;

/// Keeps whoever runs `block` busy until the process ends; `entered` tells that it has begun.
/// For rows that need commands to wait.
class gate {
public:
  void block() {
    entered_ = true;
    entered_.notify_all();
    open_.wait(false);
  }

  void wait_entered() const { entered_.wait(false); }

private:
  std::atomic<bool> entered_{false};
  std::atomic<bool> open_{false};
};

}  // namespace troupe::bench
