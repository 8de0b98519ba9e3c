#pragma once

#include <sched.h>

namespace troupe {

/// Keeps the calling thread, and threads that it makes meanwhile, on the core that it is on. For
/// threads of which one runs at a time: to hand over on one core takes a fraction of what it takes
/// to wake another. A thread made by somebody else's code meanwhile stays there when this has
/// ended. Where the system refuses it, nothing changes. Begins and ends on one thread.
class one_core {
public:
  one_core();
  ~one_core();
  one_core(const one_core&) = delete;
  one_core& operator=(const one_core&) = delete;

private:
  cpu_set_t before_;
  bool kept_ = false;
};

} // namespace troupe
