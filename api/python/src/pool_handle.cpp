#include "api/python/src/pool_handle.hpp"

#include "api/python/src/device_array.hpp"
#include "api/python/src/stream_handle.hpp"

namespace troupe::python {
namespace {

struct pool_handle {
  std::shared_ptr<place> home;
  pool memory;

  pool_handle(std::shared_ptr<place> h, pool p) : home(std::move(h)), memory(std::move(p)) {}
  pool_handle(const pool_handle&) = delete;
  pool_handle& operator=(const pool_handle&) = delete;
  ~pool_handle() { let_go(memory); }
};

std::unique_ptr<pool_handle> make_pool(const py::object& where, const py::object& keep) {
  const auto home = to_place(where);
  pool_options options;
  options.release_threshold_bytes = to_count(keep, "release_threshold");
  auto made = take(without_gil([&] { return home->home().create_pool(options); }));
  return std::make_unique<pool_handle>(home, std::move(made));
}

device_array allocate(const pool_handle& self, const py::object& shape, const py::object& type,
                      const py::object& stream) {
  const auto wanted = to_shape(shape);
  const auto element = to_dtype(type);
  const auto bytes = std::max<std::size_t>(bytes_of(wanted, element), 1);
  const auto user = to_work_stream(stream);
  bury_objects();
  auto got = take(without_gil([&] { return self.memory.allocate<std::byte>(user->on(), bytes); }));
  return device_array(std::make_shared<storage>(self.home, std::move(got)), 0, element, wanted);
}

} // namespace

void bind_pools(py::module_& m) {
  py::class_<pool_handle>(m, "Pool",
                          "Takes large blocks from a device and hands out parts of them again and "
                          "again, in stream order.")
      .def(py::init(&make_pool), py::arg("device") = py::none(), py::arg("release_threshold") = 0)
      .def("allocate", &allocate, py::arg("shape"), py::arg("dtype") = "uint8",
           py::arg("stream") = py::none(),
           "A device array for work that the stream is given from now on; freed in its order.")
      .def(
          "trim",
          [](const pool_handle& self, const py::object& given) {
            const auto keep = to_count(given, "keep_bytes");
            check(without_gil([&] { return self.memory.trim(keep); }));
          },
          py::arg("keep_bytes") = 0, "Gives back what nothing uses, but for keep_bytes.")
      .def(
          "counters", [](const pool_handle& self) { return self.memory.counters(); },
          "What the pool has and has done.")
      .def(
          "destroy",
          [](const pool_handle& self) {
            bury_objects();
            check(without_gil([&] { return self.memory.destroy(); }));
          },
          "Ends the pool. Raises 107000 while arrays of it are held.")
      .def(
          "__enter__", [](const py::object& self) { return self; }, "The pool itself.")
      .def(
          "__exit__",
          [](const pool_handle& self, const py::args&) {
            bury_objects();
            const auto outcome = without_gil([&] { return self.memory.destroy(); });
            if (outcome.code() != code::invalid_handle) check(outcome);
          },
          "As destroy, unless it was ended before.")
      .def("__repr__", [](const pool_handle& self) {
        const auto counts = self.memory.counters();
        return "<runtime.Pool, " + std::to_string(counts.used) + " of " +
               std::to_string(counts.reserved) + " bytes in use>";
      });
}

} // namespace troupe::python
