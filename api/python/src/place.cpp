#include "api/python/src/place.hpp"

#include <atomic>

#include "api/python/src/device_handle.hpp"
#include "api/python/src/interruption.hpp"
#include "api/python/src/session.hpp"
#include "troupe/unreported.hpp"

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

void place::trim(std::uint64_t keep_bytes) {
  bury_objects();
  if (!reuse_) return;
  const auto from = *reuse_;
  check(without_gil([&] { return from.trim(keep_bytes); }));
}

void place::synchronize(timeout limit) const {
  wait_for(live_, limit, code::stream_sync_timeout,
           [this](timeout step) { return home_.synchronize(step); });
}

status place::take_untold() const {
  for (auto& each : take_unreported(home_)) {
    if (!was_told(each)) return std::move(each);
  }
  return {};
}

void place::destroy() const {
  const auto untold = take_untold();
  check(without_gil([&] { return home_.destroy(); }));
  bury_objects();
  check(untold);
}

std::shared_ptr<place> to_place(const py::object& where) {
  if (where.is_none()) return current_session()->place_of(current_device());
  if (py::isinstance<place>(where)) return where.cast<std::shared_ptr<place>>();
  if (py::isinstance<device_handle>(where)) return where.cast<const device_handle&>().own_place();
  if (PyIndex_Check(where.ptr()) == 0) {
    refuse_type("device", "a Device, a Context, an index or None", where);
  }
  return current_session()->place_of(to_index(where, "device"));
}

namespace {

std::shared_ptr<place> make_context(const py::object& where, const py::object& memory_limit) {
  const auto open = current_session();
  const auto index = where.is_none() ? current_device() : to_index(where, "device");
  const auto limit = to_count(memory_limit, "memory_limit");
  auto made =
      place::make(open->runtime(), open->end(), open->live(), open->device_at(index), {limit});
  open->enlist(made);
  return made;
}

void leave(const place& self, const py::object& type, const py::object&, const py::object&) {
  const auto untold = self.take_untold();
  const auto outcome = without_gil([&] { return self.home().destroy(); });
  bury_objects();
  if (outcome.code() != code::invalid_handle) check(outcome);
  if (type.is_none()) check(untold);
}

} // namespace

void bind_contexts(py::module_& m) {
  py::class_<place, std::shared_ptr<place>>(
      m, "Context",
      "An isolated working environment on a device: it owns streams, events and memory. A failure "
      "in one never reaches another. Ended by destroy, the end of a with block, or with the last "
      "reference.")
      .def(py::init(&make_context), py::arg("device") = py::none(), py::arg("memory_limit") = 0)
      .def(
          "synchronize",
          [](const place& self, const py::object& limit) {
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
          [](const place& self) { self.destroy(); },
          "Ends the context: drops its work and gives its memory back. Raises the first failure of "
          "its work that nobody was told of; it has ended all the same.")
      .def(
          "trim",
          [](place& self, const py::object& keep) { self.trim(to_count(keep, "keep_bytes")); },
          py::arg("keep_bytes") = 0,
          "Gives back to the device what option enableMemoryReuse and operators keep for their "
          "next use, but for keep_bytes. What work in flight may still use stays: synchronise "
          "first to have all.")
      .def_property_readonly(
          "id", [](const place& self) { return self.home().id(); },
          "Its number, as origins of errors have it.")
      .def_property_readonly(
          "device_index", [](const place& self) { return self.on().index(); }, "Of its device.")
      .def(
          "__enter__", [](const py::object& self) { return self; }, "The context itself.")
      .def("__exit__", &leave,
           "As destroy, unless it was ended before; when an exception leaves the block, that is "
           "the failure to tell of.")
      .def("__repr__", [](const place& self) {
        return "<runtime.Context " + std::to_string(self.home().id()) + " on device " +
               std::to_string(self.on().index()) + ">";
      });
}

} // namespace troupe::python
