// Plain figures as objects with attributes.

#include "api/python/src/device_handle.hpp"
#include "api/python/src/method.hpp"

namespace troupe::python {
namespace {

// "<runtime.NAME a=1 b=2>" of the attributes that the class defines, in the order of their definition.
std::string repr_of(const py::object& self) {
  const auto type = py::type::of(self);
  std::string made = "<runtime." + py::str(type.attr("__name__")).cast<std::string>();
  for (const auto& each : type.attr("__dict__").attr("items")()) {
    const auto pair = each.cast<py::tuple>();
    if (!PyObject_TypeCheck(py::object(pair[1]).ptr(), &PyProperty_Type)) continue;
    const auto name = pair[0].cast<std::string>();
    made += " " + name + "=" + py::repr(self.attr(name.c_str())).cast<std::string>();
  }
  return made + ">";
}

void bind_engines(py::module_& m) {
  py::class_<engine_counters>(m, "EngineCounters", "What the engines of one kind have done.")
      .def_readonly("engines", &engine_counters::engines)
      .def_readonly("running", &engine_counters::running)
      .def_readonly("waiting", &engine_counters::waiting)
      .def_readonly("commands", &engine_counters::commands)
      .def_readonly("bytes", &engine_counters::bytes)
      .def_readonly("busy_ns", &engine_counters::busy_ns)
      .def("__repr__", &repr_of);
  py::class_<slot_counters>(m, "SlotCounters", "The hardware queue slots of a device.")
      .def_readonly("slots", &slot_counters::slots)
      .def_readonly("served", &slot_counters::served)
      .def_readonly("served_high_water", &slot_counters::served_high_water)
      .def_readonly("waiting", &slot_counters::waiting)
      .def_readonly("waits", &slot_counters::waits)
      .def_readonly("waited_ns", &slot_counters::waited_ns)
      .def_readonly("waited_max_ns", &slot_counters::waited_max_ns)
      .def("__repr__", &repr_of);
  py::class_<device_counters>(m, "DeviceCounters", "Figures of a device, readable while it works.")
      .def_readonly("compute", &device_counters::compute)
      .def_readonly("dma_h2d", &device_counters::dma_h2d)
      .def_readonly("dma_d2h", &device_counters::dma_d2h)
      .def_readonly("dma_d2d", &device_counters::dma_d2d)
      .def_readonly("callback", &device_counters::callback)
      .def_readonly("slots", &device_counters::slots)
      .def_readonly("streams", &device_counters::streams)
      .def_readonly("events", &device_counters::events)
      .def_readonly("allocations", &device_counters::allocations)
      .def_readonly("elapsed_ns", &device_counters::elapsed_ns)
      .def_property_readonly("utilisation", method(&device_counters::utilisation))
      .def("__repr__", &repr_of);
}

void bind_memory(py::module_& m) {
  py::class_<memory_info>(m, "MemoryInfo", "State of a device's memory, in bytes.")
      .def_readonly("total", &memory_info::total)
      .def_readonly("used", &memory_info::used)
      .def_readonly("free", &memory_info::free)
      .def_readonly("largest_hole", &memory_info::largest_hole)
      .def_readonly("high_water", &memory_info::high_water)
      .def_readonly("quarantined", &memory_info::quarantined)
      .def_readonly("backed", &memory_info::backed)
      .def_readonly("cached", &memory_info::cached)
      .def("__repr__", &repr_of);
  py::class_<pool_counters>(m, "PoolCounters", "State of a pool, in bytes and counts.")
      .def_readonly("reserved", &pool_counters::reserved)
      .def_readonly("reserved_high_water", &pool_counters::reserved_high_water)
      .def_readonly("used", &pool_counters::used)
      .def_readonly("used_high_water", &pool_counters::used_high_water)
      .def_readonly("allocations", &pool_counters::allocations)
      .def_readonly("reused", &pool_counters::reused)
      .def_readonly("grown", &pool_counters::grown)
      .def("__repr__", &repr_of);
}

} // namespace

void bind_figures(py::module_& m) {
  bind_engines(m);
  bind_memory(m);
  py::class_<stream_counters>(m, "StreamCounters", "Figures of one stream.")
      .def_readonly("submitted", &stream_counters::submitted)
      .def_readonly("completed", &stream_counters::completed)
      .def_readonly("failed", &stream_counters::failed)
      .def_readonly("dropped", &stream_counters::dropped)
      .def("__repr__", &repr_of);
  py::class_<device_profile>(m, "DeviceProperties", "What a device is like.")
      .def_readonly("name", &device_profile::name)
      .def_readonly("total_memory", &device_profile::memory_bytes, "Bytes.")
      .def_readonly("clock_rate", &device_profile::clock_khz, "kHz.")
      .def_readonly("cores", &device_profile::cores)
      .def_readonly("peak_flops", &device_profile::peak_flops, "FLOP/s of the whole device.")
      .def_readonly("link_bandwidth", &device_profile::link_bandwidth, "Bytes/s, host to device.")
      .def_readonly("memory_bandwidth", &device_profile::memory_bandwidth, "Bytes/s.")
      .def_readonly("queue_slots", &device_profile::queue_slots)
      .def_readonly("stream_limit", &device_profile::stream_limit)
      .def_readonly("event_limit", &device_profile::event_limit)
      .def("__repr__", &repr_of);
  py::class_<compute_info>(m, "ComputeInfo", "What a device can compute.")
      .def_readonly("fpeak", &compute_info::peak_flops, "FLOP/s.")
      .def_readonly("cores", &compute_info::cores)
      .def_readonly("clock_rate", &compute_info::clock_khz, "kHz.")
      .def_readonly("utilisation", &compute_info::utilisation,
                    "Share of the compute engines' time in use, 0 to 1.")
      .def("__repr__", &repr_of);
}

} // namespace troupe::python
