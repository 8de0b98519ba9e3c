// Plain figures as objects with attributes.

#include "api/python/src/device_handle.hpp"
#include "api/python/src/method.hpp"

namespace troupe::python {
namespace {

// "<runtime.NAME a=1 b=2>" of the attributes that the class defines, in the order of their
// definition.
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

template <class Figures>
std::uint64_t in_use(const Figures& of) {
  const std::uint64_t kept = of.cached + of.quarantined;
  return of.used > kept ? of.used - kept : 0;
}

void bind_engines(py::module_& m) {
  py::class_<engine_counters>(m, "EngineCounters", "What the engines of one kind have done.")
      .def_readonly("engines", &engine_counters::engines, "Made so far.")
      .def_readonly("running", &engine_counters::running, "Executing right now.")
      .def_readonly("waiting", &engine_counters::waiting, "Streams that queue for one.")
      .def_readonly("commands", &engine_counters::commands, "Executed.")
      .def_readonly("bytes", &engine_counters::bytes, "Moved by copies.")
      .def_readonly("busy_ns", &engine_counters::busy_ns,
                    "Time spent executing, summed over engines.")
      .def("__repr__", &repr_of);
  py::class_<slot_counters>(m, "SlotCounters", "The hardware queue slots of a device.")
      .def_readonly("slots", &slot_counters::slots, "Of the device.")
      .def_readonly("served", &slot_counters::served, "Streams that hold one now.")
      .def_readonly("served_high_water", &slot_counters::served_high_water,
                    "The most that did at once: the parallelism achieved.")
      .def_readonly("waiting", &slot_counters::waiting, "Streams that queue for one now.")
      .def_readonly("waits", &slot_counters::waits, "That have ended.")
      .def_readonly("waited_ns", &slot_counters::waited_ns, "All of them together.")
      .def_readonly("waited_max_ns", &slot_counters::waited_max_ns, "The longest.")
      .def("__repr__", &repr_of);
  py::class_<device_counters>(m, "DeviceCounters", "Figures of a device, readable while it works.")
      .def_readonly("compute", &device_counters::compute, "Engines that run kernels.")
      .def_readonly("dma_h2d", &device_counters::dma_h2d, "Engines for copies from the host.")
      .def_readonly("dma_d2h", &device_counters::dma_d2h, "Engines for copies to the host.")
      .def_readonly("dma_d2d", &device_counters::dma_d2d,
                    "Engines for copies within and between devices, and fills.")
      .def_readonly("callback", &device_counters::callback, "Threads that run host callbacks.")
      .def_readonly("slots", &device_counters::slots, "Hardware queue slots.")
      .def_readonly("streams", &device_counters::streams, "That exist.")
      .def_readonly("events", &device_counters::events, "That exist.")
      .def_readonly("allocations", &device_counters::allocations,
                    "Taken from the device's memory so far, pools' blocks included.")
      .def_readonly("elapsed_ns", &device_counters::elapsed_ns, "Since the runtime began.")
      .def_property_readonly("utilisation", method(&device_counters::utilisation),
                             "Share of the compute engines' time in use, 0 to 1.")
      .def("__repr__", &repr_of);
}

void bind_memory(py::module_& m) {
  py::class_<memory_info>(m, "MemoryInfo", "State of a device's memory, in bytes.")
      .def_readonly("total", &memory_info::total, "Of the device.")
      .def_readonly("used", &memory_info::used, "Handed out, in quarantine or kept by pools.")
      .def_readonly("free", &memory_info::free, "The rest.")
      .def_readonly("largest_hole", &memory_info::largest_hole,
                    "The largest block that could be had.")
      .def_readonly("high_water", &memory_info::high_water, "The most that was in use.")
      .def_readonly("quarantined", &memory_info::quarantined,
                    "Freed, but work in flight may still touch it; part of used.")
      .def_readonly("backed", &memory_info::backed, "Charged to the process's memory budget.")
      .def_readonly("cached", &memory_info::cached,
                    "Held by pools and not handed out; part of used.")
      .def_property_readonly("in_use", &in_use<memory_info>,
                             "Handed out to programs: used without cached and quarantined.")
      .def("__repr__", &repr_of);
  py::class_<context_memory>(m, "ContextMemory",
                             "What a context has of its device's memory, in bytes.")
      .def_readonly("used", &context_memory::used, "By its blocks and its pools' large blocks.")
      .def_readonly("requested", &context_memory::requested, "What was asked for with these.")
      .def_readonly("cached", &context_memory::cached,
                    "Held by its pools and not handed out; part of used.")
      .def_readonly("quarantined", &context_memory::quarantined,
                    "Freed, but work in flight may still touch it; part of used.")
      .def_property_readonly("in_use", &in_use<context_memory>,
                             "Handed out to programs: used without cached and quarantined.")
      .def_readonly("high_water", &context_memory::high_water, "The most that was used.")
      .def_readonly("blocks", &context_memory::blocks, "How many.")
      .def_readonly("limit", &context_memory::limit, "What it may use; 0: as much as there is.")
      .def("__repr__", &repr_of);
  py::class_<pool_counters>(m, "PoolCounters", "State of a pool, in bytes and counts.")
      .def_readonly("reserved", &pool_counters::reserved, "Taken from the device.")
      .def_readonly("reserved_high_water", &pool_counters::reserved_high_water,
                    "The most that was.")
      .def_readonly("used", &pool_counters::used, "Handed out.")
      .def_readonly("used_high_water", &pool_counters::used_high_water, "The most that was.")
      .def_readonly("allocations", &pool_counters::allocations, "So far.")
      .def_readonly("reused", &pool_counters::reused, "Allocations served from freed blocks.")
      .def_readonly("grown", &pool_counters::grown, "Times the device was asked for memory.")
      .def("__repr__", &repr_of);
}

} // namespace

void bind_figures(py::module_& m) {
  bind_engines(m);
  bind_memory(m);
  py::class_<stream_counters>(m, "StreamCounters", "Figures of one stream.")
      .def_readonly("submitted", &stream_counters::submitted, "Commands accepted.")
      .def_readonly("completed", &stream_counters::completed, "Commands that have ended.")
      .def_readonly("failed", &stream_counters::failed, "Of these, failed.")
      .def_readonly("dropped", &stream_counters::dropped,
                    "Of these, did not run or were told to stop.")
      .def("__repr__", &repr_of);
  py::class_<device_profile>(m, "DeviceProperties", "What a device is like.")
      .def_readonly("name", &device_profile::name, "As the device reports it.")
      .def_readonly("total_memory", &device_profile::memory_bytes, "Bytes.")
      .def_readonly("clock_rate", &device_profile::clock_khz, "kHz.")
      .def_readonly("cores", &device_profile::cores, "That the device reports.")
      .def_readonly("peak_flops", &device_profile::peak_flops, "FLOP/s of the whole device.")
      .def_readonly("link_bandwidth", &device_profile::link_bandwidth, "Bytes/s, host to device.")
      .def_readonly("memory_bandwidth", &device_profile::memory_bandwidth, "Bytes/s.")
      .def_readonly("queue_slots", &device_profile::queue_slots, "Streams served at the same time.")
      .def_readonly("stream_limit", &device_profile::stream_limit, "Streams that may exist.")
      .def_readonly("event_limit", &device_profile::event_limit, "Events that may exist.")
      .def("__repr__", &repr_of);
  py::class_<compute_info>(m, "ComputeInfo", "What a device can compute.")
      .def_readonly("fpeak", &compute_info::peak_flops, "FLOP/s.")
      .def_readonly("cores", &compute_info::cores, "That the device reports.")
      .def_readonly("clock_rate", &compute_info::clock_khz, "kHz.")
      .def_readonly("utilisation", &compute_info::utilisation,
                    "Share of the compute engines' time in use, 0 to 1.")
      .def("__repr__", &repr_of);
}

} // namespace troupe::python
