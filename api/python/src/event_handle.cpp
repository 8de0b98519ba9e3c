#include "api/python/src/event_handle.hpp"

#include "api/python/src/interruption.hpp"
#include "api/python/src/method.hpp"
#include "api/python/src/session.hpp"
#include "api/python/src/stream_handle.hpp"

namespace troupe::python {

const std::optional<event>& event_handle::get() const {
  if (destroyed_) check(make_status(code::invalid_handle, "the event has been destroyed"));
  return event_;
}

void event_handle::record(work_stream& on) {
  (void)get();
  const auto& home = *on.home();
  const auto device = home.on().index();
  // Events are of a device: one that moves to another starts anew there.
  if (!event_ || device_ != device || runs_ != home.runs()) {
    auto made = take(without_gil([&] { return home.home().create_event(); }));
    let_go(event_);
    event_ = std::move(made);
    device_ = device;
    runs_ = home.runs();
    live_ = home.live();
  }
  const auto recorded = *event_;
  on.submit([&] { return on.on().record(recorded); });
}

bool event_handle::query() const {
  const auto found = get();
  if (!found) return true;
  return take(without_gil([&] { return found->query(); }));
}

void event_handle::synchronize(timeout limit) const {
  const auto found = get();
  if (!found) return;
  wait_for(live_, limit, code::event_sync_timeout,
           [&](timeout step) { return found->synchronize(step); });
}

double event_handle::elapsed_to(const event_handle& end) const {
  const auto from = get();
  const auto to = end.get();
  if (!from || !to) {
    check(make_status(code::internal_error, std::string("the ") + (from ? "end" : "start") +
                                                " event was never recorded"));
  }
  return take(without_gil([&] { return to->elapsed_since(*from); })).count();
}

void event_handle::destroy() {
  (void)get();
  if (event_) check(without_gil([&] { return event_->destroy(); }));
  let_go(event_);
  destroyed_ = true;
}

void bind_events(py::module_& m) {
  py::class_<event_handle>(
      m, "Event",
      "A mark in a stream: record gives it the meaning 'that stream, up to here'. Recorded again "
      "it gets a new one. Ended by destroy, a with block, or with the last reference.")
      .def(py::init<>())
      .def(
          "record",
          [](event_handle& self, const py::object& on) { self.record(*to_work_stream(on)); },
          py::arg("stream") = py::none(),
          "Marks what the stream was given so far; without one, calls that name none.")
      .def("query", method(&event_handle::query),
           "Whether all before the last record has ended; True if it was never recorded.")
      .def(
          "synchronize",
          [](const event_handle& self, const py::object& limit) {
            self.synchronize(to_timeout(limit));
          },
          py::arg("timeout") = py::none(), "Waits until query would be True.")
      .def(
          "elapsed_time",
          [](const event_handle& self, const py::object& end) {
            return self.elapsed_to(to<const event_handle>(end, "end", "an Event"));
          },
          py::arg("end"),
          "Device time in milliseconds from this event's record to that of end. Raises 107006 "
          "when one has not been reached, 107007 when end came first.")
      .def("destroy", method(&event_handle::destroy),
           "Ends the event; waits that use it still complete.")
      .def(
          "__enter__", [](const py::object& self) { return self; }, "The event itself.")
      .def(
          "__exit__",
          [](event_handle& self, const py::args&) {
            if (!self.destroyed()) self.destroy();
          },
          "As destroy, unless it has ended.")
      .def("__repr__", [](const event_handle& self) {
        if (self.destroyed()) return "<runtime.Event, destroyed>";
        return self.get() ? "<runtime.Event, recorded>" : "<runtime.Event, never recorded>";
      });

  py::class_<signal_handle>(m, "Signal",
                            "What streams wait for until host code raises it; it takes no engine.")
      .def(py::init([] { return signal_handle{current_session()->runtime()->create_signal()}; }))
      .def(
          "set",
          [](const signal_handle& self) { without_gil([&] { self.raised_by_host.raise(); }); },
          "Lets everybody go who waits for it, now and later.")
      .def(
          "is_set", [](const signal_handle& self) { return self.raised_by_host.raised(); },
          "Whether set was called.")
      .def("__repr__", [](const signal_handle& self) {
        return self.raised_by_host.raised() ? "<runtime.Signal, set>" : "<runtime.Signal>";
      });
}

} // namespace troupe::python
