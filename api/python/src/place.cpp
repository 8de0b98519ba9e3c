#include "api/python/src/place.hpp"

#include <atomic>

#include "api/python/src/device_handle.hpp"
#include "api/python/src/interruption.hpp"
#include "api/python/src/session.hpp"

namespace troupe::python {

namespace {

std::uint64_t next_serial() noexcept {
  static std::atomic<std::uint64_t> last{0};
  return ++last;
}

} // namespace

place::place(std::shared_ptr<troupe::runtime> runs, std::shared_ptr<const ending> end, bool live,
             device where, context home)
    : runs_(std::move(runs)),
      end_(std::make_shared<ending>(ending{std::move(end)})),
      live_(live),
      serial_(next_serial()),
      on_(std::move(where)),
      home_(std::move(home)) {}

std::shared_ptr<place> place::make(std::shared_ptr<troupe::runtime> runs,
                                   std::shared_ptr<const ending> end, bool live,
                                   const device& where, const context_options& options) {
  auto home = take(without_gil([&] { return where.create_context(options); }));
  return std::shared_ptr<place>(
      new place(std::move(runs), std::move(end), live, where, std::move(home)));
}

place::~place() {
  let_go(reuse_);
  let_go(home_);
  if (runs_.use_count() == 1) let_go(runs_);
}

const pool& place::reuse() {
  if (!reuse_) {
    pool_options keeps_all;
    keeps_all.release_threshold_bytes = UINT64_MAX;
    auto made = take(without_gil([&] { return home_.create_pool(keeps_all); }));
    if (!reuse_) reuse_.emplace(std::move(made));
  }
  return *reuse_;
}

void place::synchronize(timeout limit) const {
  wait_for(live_, limit, code::stream_sync_timeout,
           [this](timeout step) { return home_.synchronize(step); });
}

std::int64_t to_index(const py::handle& value) {
  const auto number = py::reinterpret_steal<py::object>(PyNumber_Index(value.ptr()));
  if (!number) throw py::error_already_set();
  int overflow = 0;
  const auto made = PyLong_AsLongLongAndOverflow(number.ptr(), &overflow);
  if (overflow != 0) refuse("the number " + py::str(number).cast<std::string>() + " is too large");
  return made;
}

std::shared_ptr<place> to_place(const py::object& where) {
  if (where.is_none()) return current_session()->place_of(current_device());
  if (py::isinstance<place>(where)) return where.cast<std::shared_ptr<place>>();
  if (py::isinstance<device_handle>(where)) return where.cast<const device_handle&>().own_place();
  return current_session()->place_of(to_index(where));
}

void bind_contexts(py::module_& m) {
  py::class_<context_memory>(m, "ContextMemory",
                             "What a context has of its device's memory, in bytes.")
      .def_readonly("used", &context_memory::used, "By its blocks and its pools' large blocks.")
      .def_readonly("requested", &context_memory::requested, "What was asked for with these.")
      .def_readonly("cached", &context_memory::cached,
                    "Held by its pools and not handed out; part of used.")
      .def_readonly("quarantined", &context_memory::quarantined,
                    "Freed, but work in flight may still touch it; part of used.")
      .def_readonly("high_water", &context_memory::high_water, "The most that was used.")
      .def_readonly("blocks", &context_memory::blocks, "How many.")
      .def_readonly("limit", &context_memory::limit, "What it may use; 0: as much as there is.");

  py::class_<place, std::shared_ptr<place>>(
      m, "Context",
      "An isolated working environment on a device: it owns streams, events and memory. A failure "
      "in one never reaches another. Ended by destroy, the end of a with block, or with the last "
      "reference.")
      .def(py::init([](const py::object& where, std::uint64_t memory_limit) {
             const auto open = current_session();
             const auto index = where.is_none() ? current_device() : to_index(where);
             return place::make(open->runtime(), open->end(), open->live(), open->device_at(index),
                                {memory_limit});
           }),
           py::arg("device") = py::none(), py::arg("memory_limit") = 0)
      .def(
          "synchronize",
          [](const place& self, std::optional<double> limit) {
            self.synchronize(to_timeout(limit));
          },
          py::arg("timeout") = py::none(),
          "Waits for all streams of the context; raises their first failure.")
      .def(
          "memory",
          [](const place& self) { return take(without_gil([&] { return self.home().memory(); })); },
          "What the context has of its device's memory.")
      .def(
          "destroy",
          [](place& self) {
            check(without_gil([&] { return self.home().destroy(); }));
            bury_objects();
          },
          "Ends the context: drops its work and gives its memory back.")
      .def_property_readonly(
          "id", [](const place& self) { return self.home().id(); },
          "Its number, as origins of errors have it.")
      .def_property_readonly(
          "device_index", [](const place& self) { return self.on().index(); }, "Of its device.")
      .def("__enter__", [](std::shared_ptr<place> self) { return self; })
      .def("__exit__",
           [](place& self, const py::args&) {
             const auto outcome = without_gil([&] { return self.home().destroy(); });
             if (outcome.code() != code::invalid_handle) check(outcome);
           })
      .def("__repr__", [](const place& self) {
        return "<runtime.Context " + std::to_string(self.home().id()) + " on device " +
               std::to_string(self.on().index()) + ">";
      });
}

} // namespace troupe::python
