#include "api/python/src/device_handle.hpp"

#include <array>

#include "api/python/src/interruption.hpp"
#include "api/python/src/method.hpp"
#include "api/python/src/place.hpp"

namespace troupe::python {
namespace {

device_handle handle_for(const py::object& which) {
  const auto open = current_session();
  const auto index = which.is_none() ? current_device() : to_index(which, "index");
  (void)take(open->runtime()->profile(index));
  return {open, index};
}

py::list available_devices() {
  const auto open = current_session();
  py::list made;
  const auto count = static_cast<std::int64_t>(open->runtime()->device_count());
  for (std::int64_t i = 0; i < count; ++i) {
    const auto health = take(open->runtime()->health(i));
    if (health == device_health::lost) continue;
    made.append(device_handle{open, i});
  }
  return made;
}

// The device with the least to do, by the runtime's own judgement.
device_handle least_loaded() {
  const auto open = current_session();
  const auto found = take(without_gil([&] { return open->runtime()->least_loaded(); }));
  return {open, static_cast<std::int64_t>(found.index())};
}

template <class Class>
void bind_device_work(Class& c) {
  c.def(
       "synchronize",
       [](const device_handle& self, const py::object& limit) {
         self.own_place()->synchronize(to_timeout(limit));
       },
       py::arg("timeout") = py::none(),
       "Waits, at most timeout seconds, for all streams that were made for this device without a "
       "Context; raises their first failure.")
      .def(
          "reset", [](const device_handle& self) { self.of->reset(self.index); },
          "Ends all contexts of the device, drops their work and gives their memory back.")
      .def(
          "abort",
          [](const device_handle& self, const py::object& limit) {
            const auto where = self.get();
            const auto bound = to_timeout(limit);
            check(without_gil([&] { return where.abort(bound); }));
          },
          py::arg("timeout") = py::none(),
          "Drops all work of the device and waits until nothing runs. Streams and memory stay.");
}

void bind_device_functions(py::module_& m) {
  m.def(
      "get_device_count", [] { return current_session()->runtime()->device_count(); },
      "How many devices there are.");
  m.def("get_available_devices", &available_devices, "All devices but those that are lost.");
  m.def(
      "get_device", [] { return handle_for(py::none()); }, "The calling thread's current device.");
  m.def("least_loaded", &least_loaded, "The device whose engines have the least to do.");
  m.def(
      "get_device_properties",
      [](const py::object& d) {
        return take(current_session()->runtime()->profile(to_index(d, "device")));
      },
      py::arg("device"), "What a device is like, by index or Device; does not use it.");
  m.def(
      "get_device_memory_info",
      [](const py::object& d) {
        const auto where = current_session()->device_at(to_index(d, "device"));
        return take(without_gil([&] { return where.memory(); }));
      },
      py::arg("device"), "Figures of a device's memory, in bytes.");
  m.def(
      "get_device_compute_info",
      [](const py::object& d) {
        return current_session()->device_at(to_index(d, "device")).compute();
      },
      py::arg("device"), "What a device can compute.");
}

} // namespace

void bind_devices(py::module_& m) {
  py::class_<device_handle> c(
      m, "Device",
      "One device, by index; the thread's current one without. A light handle: equal to others of "
      "the same index, and to the index.");
  c.def(py::init(&handle_for), py::arg("index") = py::none())
      .def_readonly("index", &device_handle::index, "From 0.")
      .def(
          "get_properties",
          [](const device_handle& self) { return take(self.of->runtime()->profile(self.index)); },
          "What the device is like; does not use it.")
      .def(
          "memory_info",
          [](const device_handle& self) {
            const auto where = self.get();
            return take(without_gil([&] { return where.memory(); }));
          },
          "Figures of the device's memory.")
      .def(
          "compute_info", [](const device_handle& self) { return self.get().compute(); },
          "What the device can compute, and how much of it is in use.")
      .def(
          "counters", [](const device_handle& self) { return self.get().counters(); },
          "What its engines have done so far.")
      .def_property_readonly(
          "health",
          [](const device_handle& self) {
            return to_string(take(self.of->runtime()->health(self.index)));
          },
          "unused, starting, usable, faulted, aborting, aborted or lost.")
      .def_property_readonly("context", method(&device_handle::own_place),
                             "The context of what names no other.")
      .def("__index__", [](const device_handle& self) { return self.index; })
      .def("__int__", [](const device_handle& self) { return self.index; })
      .def("__hash__", [](const device_handle& self) { return self.index; })
      .def("__eq__",
           [](const device_handle& self, const py::object& other) -> py::object {
             if (py::isinstance<device_handle>(other)) {
               const auto& second = other.cast<const device_handle&>();
               return py::bool_(self.index == second.index && self.of == second.of);
             }
             if (PyLong_Check(other.ptr())) return py::int_(self.index).attr("__eq__")(other);
             return py::reinterpret_borrow<py::object>(Py_NotImplemented);
           })
      .def("__repr__", [](const device_handle& self) {
        const auto made = "<runtime.Device " + std::to_string(self.index);
        if (!self.of->is_open()) return made + ", shut down>";
        return made + ": " + take(self.of->runtime()->profile(self.index)).name + ">";
      });
  bind_device_work(c);
  bind_device_functions(m);
}

} // namespace troupe::python
