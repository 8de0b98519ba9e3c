#pragma once

// Declared here because clang finds no omp.h without an OpenMP runtime of its own, and the setting
// must reach the one that oneDNN uses.
extern "C" void omp_set_num_threads(int count);
extern "C" int omp_get_max_threads(void);

namespace troupe::operators {

/// While it lives, what oneDNN prepares on this thread is for one thread. A primitive asks for as many
/// helpers as there were threads when it was made, whoever runs it.
class one_thread {
public:
  one_thread() : before_(omp_get_max_threads()) { omp_set_num_threads(1); }
  one_thread(const one_thread&) = delete;
  one_thread& operator=(const one_thread&) = delete;
  ~one_thread() { omp_set_num_threads(before_); }

private:
  const int before_;
};

} // namespace troupe::operators
