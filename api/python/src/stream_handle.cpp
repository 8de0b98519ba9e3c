#include "api/python/src/stream_handle.hpp"

#include <pybind11/stl.h>

#include "api/python/src/arguments.hpp"
#include "api/python/src/event_handle.hpp"
#include "api/python/src/interruption.hpp"
#include "api/python/src/kernel.hpp"
#include "api/python/src/lanes.hpp"
#include "api/python/src/operators.hpp"
#include "api/python/src/registry.hpp"
#include "api/python/src/session.hpp"

namespace troupe::python {
namespace {

stream_handle make_stream(const py::object& where, const py::object& priority,
                          const py::object& depth) {
  const auto home = to_place(where);
  const auto wanted = to_index(priority, "priority");
  const auto room = to_index(depth, "queue_depth");
  if (wanted < 0 || wanted > 7) {
    refuse("a priority of " + std::to_string(wanted) + "; 0 (greatest) to 7");
  }
  if (room < 0 || room > runtime_options::queue_depth_max) {
    refuse("a queue_depth of " + std::to_string(room) + "; 2 to 1048576, or 0 for the default");
  }
  const stream_options options{static_cast<unsigned>(wanted), static_cast<unsigned>(room)};
  auto made = take(without_gil([&] { return home->home().create_stream(options); }));
  return {std::make_shared<work_stream>(home, std::move(made))};
}

void launch_kernel(stream_handle& self, const py::object& kernel, const py::object& arguments,
                   const py::object& blocks, const py::object& name) {
  if (!py::isinstance<py::str>(kernel)) {
    return launch_python_kernel(*self.work, {kernel, arguments, blocks, name});
  }
  const auto wanted = to_text(kernel, "kernel");
  const auto found = find_kernel(wanted);
  if (!found) return launch_operator(*self.work, wanted, arguments);
  launch_python_kernel(*self.work, {*found, arguments, blocks, name.is_none() ? kernel : name});
}

void wait_on(stream_handle& self, const py::object& what, const py::object& limit) {
  const auto bound = to_timeout(limit);
  order_after_calls(*self.work);
  auto& on = self.work->on();
  if (py::isinstance<signal_handle>(what)) {
    const auto raised = what.cast<const signal_handle&>().raised_by_host;
    return self.work->submit([&] { return on.wait(raised, bound); });
  }
  const auto found = to<const event_handle>(what, "event", "an Event or a Signal").get();
  if (found) self.work->submit([&] { return on.wait(*found, bound); });
}

// The wait before is one that Ctrl-C interrupts.
status wait_for_end(stream_handle& self) {
  status met;
  wait_for(self.work->home()->live(), forever, code::stream_sync_timeout, [&](timeout step) {
    auto outcome = self.work->on().synchronize(step);
    if (outcome.code() == code::stream_sync_timeout) return outcome;
    met = std::move(outcome);
    return status{};
  });
  return met;
}

// A refused call leaves the stream as it was.
bool has_ended(const stream& on) {
  const auto left = without_gil([&] { return on.query(); });
  const auto why = left.error().code();
  return why == code::invalid_handle || why == code::context_released ||
         why == code::uninitialized;
}

void destroy(stream_handle& self, bool force) {
  status met;
  if (force) {
    met = without_gil([&] { return self.work->on().abort(); });
    interrupt_kernels();
  } else if (!self.destroyed) {
    met = wait_for_end(self);
  }
  const auto outcome = without_gil([&] { return self.work->on().destroy(force); });
  self.destroyed = self.destroyed || has_ended(self.work->on());
  self.work->let_go_ended();
  check(met);
  check(outcome);
}

void leave(stream_handle& self, const py::object& type) {
  if (!self.destroyed) destroy(self, !type.is_none());
}

py::list failures(const stream_handle& self) {
  py::list made;
  for (const auto& each : self.work->on().failures()) made.append(make_exception(each));
  return made;
}

std::string repr(const stream_handle& self) {
  const auto& on = self.work->on();
  const auto counts = on.counters();
  auto made = "<runtime.Stream " + std::to_string(on.id()) + " on device " +
              std::to_string(self.work->home()->on().index());
  if (self.destroyed) return made + ", destroyed>";
  return made + ", priority " + std::to_string(on.priority()) + ", " +
         std::to_string(counts.submitted - counts.completed) + " pending>";
}

using stream_class = py::class_<stream_handle>;

void bind_work(stream_class& c) {
  c.def("launch_kernel", &launch_kernel, py::arg("kernel"), py::arg("args") = py::tuple(),
        py::kw_only(), py::arg("blocks") = py::none(), py::arg("name") = py::none(),
        "Runs kernel(*args) on the device, in stream order; returns at once. A kernel is a Python "
        "function, to which device arrays come as numpy arrays over their memory, a name of "
        "register_kernel, or that of an operator, whose last argument is its output. With blocks "
        "it is called so often, with a Block as first argument. What it raises fails its task: "
        "the next synchronize raises that.")
      .def(
          "callback",
          [](stream_handle& self, const py::object& function, const py::args& arguments) {
            launch_python_callback(*self.work, function, arguments);
          },
          py::arg("function"),
          "Calls function(*args) on a host thread in stream order. Calls of the runtime that "
          "submit, allocate or wait are refused in it (207000).")
      .def(
          "record",
          [](stream_handle& self, const py::object& given) {
            auto made = given.is_none() ? py::cast(event_handle()) : given;
            to<event_handle>(made, "event", "an Event or None").record(*self.work);
            return made;
          },
          py::arg("event") = py::none(), "Records the event, or a fresh one, and returns it.")
      .def("wait", &wait_on, py::arg("event"), py::arg("timeout") = py::none(),
           "Holds back all later work until the Event's last record is reached or the Signal is "
           "set. With a timeout the wait fails as a task with 107020.");
}

void bind_completion(stream_class& c) {
  c.def(
       "synchronize",
       [](stream_handle& self, const py::object& limit) {
         self.work->synchronize(to_timeout(limit));
       },
       py::arg("timeout") = py::none(),
       "Waits, at most timeout seconds, for all work submitted before; raises the first failure "
       "of it since the last report. Ctrl-C interrupts the wait, and the work goes on.")
      .def(
          "query",
          [](stream_handle& self) {
            const auto ended = take(without_gil([&] { return self.work->on().query(); }));
            if (ended) self.work->let_go_ended();
            return ended;
          },
          "Whether all work submitted so far has ended. Raises no failure of a task.")
      .def("failures", &failures, "The failures of this stream's tasks, oldest first, at most 64.")
      .def(
          "abort",
          [](stream_handle& self) {
            const auto outcome = without_gil([&] { return self.work->on().abort(); });
            interrupt_kernels();
            check(outcome);
          },
          "Drops all work submitted so far; the stream stays usable. Who waits gets 107023.")
      .def(
          "stop_on_failure",
          [](stream_handle& self) {
            check(
                without_gil([&] { return self.work->on().set_failure_mode(failure_mode::stop); }));
          },
          "From now on the first failure ends all work of the stream's context.")
      .def("destroy", &destroy, py::arg("force") = false,
           "Ends the stream: waits for its work, or drops it by force. Raises the first failure "
           "that nobody was told of.")
      .def(
          "__enter__", [](const py::object& self) { return self; }, "The stream itself.")
      .def(
          "__exit__",
          [](stream_handle& self, const py::object& type, const py::object&, const py::object&) {
            leave(self, type);
          },
          "As destroy, by force when an exception leaves the block; nothing if it has ended.");
}

} // namespace

std::shared_ptr<work_stream> to_work_stream(const py::object& given) {
  if (given.is_none()) return lanes_of(to_place(given)).at(lane::compute);
  return to<const stream_handle>(given, "stream", "a Stream or None").work;
}

void bind_streams(py::module_& m) {
  stream_class c(m, "Stream",
                 "An ordered queue of work on a device. Streams run in parallel; only events and "
                 "signals order one after another. Any thread. Ended by destroy, the end of a "
                 "with block (by force when that is left by an exception), or with the last "
                 "reference, which does not wait: accepted work still runs.");
  c.def(py::init(&make_stream), py::arg("device") = py::none(), py::arg("priority") = 4,
        py::arg("queue_depth") = 0);
  bind_work(c);
  bind_completion(c);
  c.def_property_readonly(
       "id", [](const stream_handle& s) { return s.work->on().id(); },
       "Its number, as origins of errors have it.")
      .def_property_readonly(
          "priority", [](const stream_handle& s) { return s.work->on().priority(); },
          "Which stream goes first where engines are short: 0 (greatest) to 7; 4 unless asked for.")
      .def_property_readonly(
          "context", [](const stream_handle& s) { return s.work->home(); },
          "That the stream is of.")
      .def_property_readonly(
          "counters", [](const stream_handle& s) { return s.work->on().counters(); },
          "What the stream has done so far.")
      .def_property_readonly(
          "kept", [](const stream_handle& s) { return s.work->kept(); },
          "Host arrays that are kept alive for its copies.")
      .def("__repr__", &repr);

  m.def(
      "stream_synchronize",
      [](const py::object& given, const py::object& limit) {
        const auto bound = to_timeout(limit);
        if (!given.is_none()) return to_work_stream(given)->synchronize(bound);
        for (const auto& each : current_session()->places()) each->synchronize(bound);
        let_go_orphans();
      },
      py::arg("stream") = py::none(), py::arg("timeout") = py::none(),
      "Waits for a stream; without one, for all streams of all devices but those of Contexts.");
}

} // namespace troupe::python
