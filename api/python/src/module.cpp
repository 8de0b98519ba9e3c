#include "api/python/src/captures.hpp"
#include "api/python/src/copy_forms.hpp"
#include "api/python/src/copying.hpp"
#include "api/python/src/device_handle.hpp"
#include "api/python/src/event_handle.hpp"
#include "api/python/src/failure.hpp"
#include "api/python/src/kernel.hpp"
#include "api/python/src/operators.hpp"
#include "api/python/src/options.hpp"
#include "api/python/src/pool_handle.hpp"
#include "api/python/src/registry.hpp"
#include "api/python/src/session.hpp"
#include "api/python/src/simulated_run.hpp"
#include "api/python/src/stream_handle.hpp"

/// `runtime._runtime`: what the package `runtime` is made of.
PYBIND11_MODULE(_runtime, m) {
  using namespace troupe::python;
  m.doc() = "The compiled part of the package runtime.";
  bind_failures(m);
  bind_figures(m);
  bind_session(m);
  bind_devices(m);
  bind_contexts(m);
  bind_events(m);
  bind_kernels(m);
  bind_registry(m);
  bind_options(m);
  bind_streams(m);
  bind_arrays(m);
  bind_copies(m);
  bind_copy_forms(m);
  bind_pools(m);
  bind_graphs(m);
  bind_operators(m);
  bind_simulated_runs(m);
}
