#include <pybind11/numpy.h>

#include "api/python/src/captures.hpp"
#include "api/python/src/copy_forms.hpp"
#include "api/python/src/copying.hpp"
#include "api/python/src/device_handle.hpp"
#include "api/python/src/event_handle.hpp"
#include "api/python/src/failure.hpp"
#include "api/python/src/kernel.hpp"
#include "api/python/src/operators.hpp"
#include "api/python/src/options.hpp"
#include "api/python/src/place.hpp"
#include "api/python/src/pool_handle.hpp"
#include "api/python/src/registry.hpp"
#include "api/python/src/session.hpp"
#include "api/python/src/simulated_run.hpp"
#include "api/python/src/stream_handle.hpp"

namespace troupe::python {
namespace {

// All classes of the module.
template <class F>
void for_each_class(const py::module_& m, F&& f) {
  const auto base = py::type::of<place>().attr("__mro__")[py::int_(1)];
  for (const auto& [name, value] : m.attr("__dict__").cast<py::dict>()) {
    if (!py::isinstance<py::type>(value)) continue;
    if (PyObject_IsSubclass(value.ptr(), base.ptr()) == 1) f(value);
  }
}

// Objects stand for parts of a running machine. Python's oldest ways of pickling would make one of
// pybind11's base class, which ends the process.
void refuse_pickling(const py::module_& m) {
  const py::cpp_function refuse = [](const py::object& self, const py::args&) {
    throw py::type_error("cannot pickle '" +
                         py::type::of(self).attr("__name__").cast<std::string>() + "' object");
  };
  for_each_class(m, [&](const py::handle& each) {
    py::setattr(each, "__reduce_ex__",
                py::reinterpret_steal<py::object>(PyInstanceMethod_New(refuse.ptr())));
  });
}

void* refuse_unmade(std::size_t) {
  throw py::type_error("the object was never made: it came of __new__, or of a subclass that has "
                       "not called super().__init__() yet");
}

// Of an object that __init__ never saw pybind11 would use memory without contents: it asks here for
// that memory.
void refuse_unmade_objects(const py::module_& m) {
  for_each_class(m, [](const py::handle& each) {
    auto* type = reinterpret_cast<PyTypeObject*>(each.ptr());
    py::detail::get_type_info(type)->operator_new = &refuse_unmade;
  });
}

} // namespace
} // namespace troupe::python

/// `runtime._runtime`: what the package `runtime` is made of.
PYBIND11_MODULE(_runtime, m) {
  using namespace troupe::python;
  // Numpy's table is looked up while there is one thread: the first look lets go of the GIL inside
  // the initialisation of a static object, for which a second thread would wait with the GIL.
  (void)py::dtype::of<float>();
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
  refuse_pickling(m);
  refuse_unmade_objects(m);
}
