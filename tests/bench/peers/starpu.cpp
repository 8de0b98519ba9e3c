#include "tests/bench/measure.hpp"
#include "tests/bench/peers/peers.hpp"

#include <starpu.h>

#include <array>
#include <memory>
#include <vector>

namespace troupe::bench {

namespace {

void nop(void**, void*) {}

/// StarPU with its processor workers, and data that tasks depend on each other by.
class starpu_session {
public:
  explicit starpu_session(std::size_t data) : numbers_(data), handles_(data) {
    starpu_conf options;
    starpu_conf_init(&options);
    options.ncuda = 0;
    options.nopencl = 0;
    if (starpu_init(&options) != 0)
      throw unavailable("StarPU does not start");
    starpu_codelet_init(&kernel_);
    kernel_.cpu_funcs[0] = nop;
    kernel_.nbuffers = 1;
    kernel_.modes[0] = STARPU_RW;
    for (std::size_t i = 0; i < data; ++i)
      starpu_vector_data_register(&handles_[i], STARPU_MAIN_RAM,
                                  reinterpret_cast<std::uintptr_t>(numbers_[i].data()), 16,
                                  sizeof(float));
  }

  void submit(std::size_t datum) {
    auto* task = starpu_task_create();
    task->cl = &kernel_;
    task->handles[0] = handles_[datum];
    if (starpu_task_submit(task) != 0)
      throw std::runtime_error("StarPU refused a task");
  }

private:
  std::vector<std::array<float, 16>> numbers_;
  std::vector<starpu_data_handle_t> handles_;
  starpu_codelet kernel_ = {};
};

repetition tasks(const workload& w) {
  auto s = std::make_shared<starpu_session>(w.streams);
  return [s, w] {
    return ns_each(w.count, [&] {
      for (std::size_t i = 0, datum = 0; i < w.count; ++i) {
        s->submit(datum);
        if (++datum == w.streams)
          datum = 0;
      }
      starpu_task_wait_for_all();
    });
  };
}

}  // namespace

contender starpu_peer() {
  return {"starpu", {{"dataflow_chain", tasks}, {"dataflow_wide", tasks}}};
}

}  // namespace troupe::bench
