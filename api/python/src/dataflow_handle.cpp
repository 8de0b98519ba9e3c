#include "api/python/src/dataflow_handle.hpp"

#include <algorithm>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "api/python/src/event_handle.hpp"
#include "api/python/src/interruption.hpp"
#include "api/python/src/kernel.hpp"
#include "api/python/src/operands.hpp"
#include "core/operators/inference.hpp"
#include "troupe/operators/dataflow.hpp"

namespace troupe::python {
namespace {

// How long a thread that waits keeps others that want the dataflow waiting at least.
constexpr timeout turn{2};

// A dataflow is for one thread at a time; the threads of Python take turns.
struct dataflow_handle {
  std::shared_ptr<place> home;
  std::optional<dataflow> flow;
  std::mutex guard; // never taken with the GIL

  dataflow_handle(std::shared_ptr<place> h, dataflow f) : home(std::move(h)), flow(std::move(f)) {}
  dataflow_handle(const dataflow_handle&) = delete;
  dataflow_handle& operator=(const dataflow_handle&) = delete;
  ~dataflow_handle() { let_go(flow); }

  // Without the GIL.
  template <class F>
  [[nodiscard]] auto locked(F&& f) {
    const std::lock_guard lock(guard);
    return f(*flow);
  }

  template <class F>
  void submit(F&& f) {
    const auto now = [&] { return locked(f); };
    if (!home->live()) return check(without_gil(now));
    submit_live(home->runs()->options().submit_timeout_ms, now);
  }

  // Other threads get their turn between the parts of a live wait.
  template <class F>
  void wait(timeout limit, F&& f) {
    wait_for(home->live(), limit, code::stream_sync_timeout, [&](timeout step) {
      const auto part = home->live() ? std::min(step, turn) : step;
      for (auto rest = step;; rest -= part) {
        const auto now = std::min(rest, part);
        const auto outcome = locked([&](dataflow& d) { return f(d, now); });
        if (outcome.code() != code::stream_sync_timeout || rest <= part) return outcome;
      }
    });
  }
};

unsigned bounded(const py::object& given, const char* name, unsigned least, unsigned most) {
  const auto made = to_index(given, name);
  if (made < least || made > most) {
    refuse(std::string(name) + " is " + std::to_string(made) + "; " + std::to_string(least) +
           " to " + std::to_string(most));
  }
  return static_cast<unsigned>(made);
}

std::unique_ptr<dataflow_handle> make(const py::object& where, const py::object& streams,
                                      const py::object& window, const py::object& priority) {
  const dataflow_options options{bounded(streams, "streams", 1, 64),
                                 bounded(window, "window", 1, 65'536),
                                 bounded(priority, "priority", 0, 7)};
  const auto home = to_place(where);
  auto made = take(without_gil([&] { return dataflow::make(home->home(), options); }));
  return std::make_unique<dataflow_handle>(home, std::move(made));
}

std::vector<const device_array*> arrays_in(const dataflow_handle& self, const py::object& given,
                                           const char* name) {
  std::vector<const device_array*> made;
  for (const auto& each : to_arguments(given)) {
    const auto& array = to<const device_array>(each, name, "DeviceArrays");
    if (array.memory()->home() != self.home) {
      refuse(std::string(name) + " has memory of context " +
             std::to_string(array.memory()->home()->home().id()) +
             "; the dataflow is of context " + std::to_string(self.home->home().id()));
    }
    made.push_back(&array);
  }
  return made;
}

// For order alone: its bytes, whatever they mean. Nothing for an array of none.
std::optional<tensor> bytes_of(const device_array& array) {
  if (array.bytes() == 0) return std::nullopt;
  const auto context = array.memory()->home()->home().id();
  const device_span<std::byte> all(array.data(), array.bytes(), context);
  const auto length = static_cast<std::int64_t>(array.bytes());
  return take(tensor::view(all, take(tensor_layout::make(element_type::u8, {length}))));
}

using arrays = std::vector<const device_array*>;

// After what calls without a stream have left to do with the arrays.
void come_after_calls(dataflow_handle& self, const arrays& used) {
  for (const auto* each : used) {
    each->memory()->used_anywhere();
    const auto marks = each->memory()->marks();
    for (const auto& mark : marks) {
      const auto reached = without_gil([&] { return mark.after.query(); });
      if (reached && !reached.value()) {
        self.submit([&](dataflow& d) { return d.after(mark.after); });
      }
    }
  }
}

void submit_kernel(dataflow_handle& self, const py::object& function, const arrays& inputs,
                   const arrays& outputs, const std::string& name) {
  py::tuple views(inputs.size() + outputs.size());
  std::vector<tensor> reads, writes;
  std::size_t at = 0;
  for (const auto* each : inputs) {
    views[at++] = each->read_only().host_view();
    if (auto all = bytes_of(*each)) reads.push_back(*std::move(all));
  }
  for (const auto* each : outputs) {
    views[at++] = each->host_view();
    if (auto all = bytes_of(*each)) writes.push_back(*std::move(all));
  }
  const auto kernel = as_kernel(*self.home, function, views);
  const task what(std::string_view(name), 1);
  self.submit([&](dataflow& d) { return d.submit(what, kernel, reads, writes); });
}

void submit_operator(dataflow_handle& self, operator_description what, const arrays& inputs,
                     const arrays& outputs) {
  std::vector<tensor> in, out;
  for (const auto* each : inputs) in.push_back(tensor_of(*each));
  for (const auto* each : outputs) out.push_back(tensor_of(*each));
  self.submit([&](dataflow& d) { return d.submit(what, in, out); });
}

void submit(dataflow_handle& self, const py::object& work, const py::object& reads,
            const py::object& writes, const py::dict& attributes, const py::object& name) {
  const auto inputs = arrays_in(self, reads, "inputs");
  const auto outputs = arrays_in(self, writes, "outputs");
  for (const auto* each : outputs) {
    if (!each->writable()) refuse("outputs has an array that is read-only");
  }
  auto all = inputs;
  all.insert(all.end(), outputs.begin(), outputs.end());
  if (py::isinstance<py::str>(work)) {
    auto what = describe_call(to_text(work, "work"), attributes);
    come_after_calls(self, all);
    return submit_operator(self, std::move(what), inputs, outputs);
  }
  if (PyCallable_Check(work.ptr()) == 0) {
    refuse_type("work", "an operator's name or a function", work);
  }
  if (!attributes.empty()) refuse("attributes are for operators; a function has none");
  const auto own = py::getattr(work, "__name__", py::str("kernel"));
  const auto called = to_text(name.is_none() ? own : name, "name");
  come_after_calls(self, all);
  submit_kernel(self, work, inputs, outputs, called);
}

device_array apply(dataflow_handle& self, const py::object& work, const py::object& reads,
                   const py::dict& attributes, const py::object& type) {
  auto what = describe_call(to_text(work, "work"), attributes);
  auto all = arrays_in(self, reads, "inputs");
  const auto inputs = all;
  for (const auto* each : inputs) what.inputs.push_back(layout_of(*each));
  const auto wanted = take(infer_output(what));
  const auto element = type.is_none() ? dtype_of(wanted.type) : to_dtype(type);
  auto made = device_array::allocate(self.home, element,
                                     {wanted.shape.begin(), wanted.shape.end()}, false);
  all.push_back(&made);
  come_after_calls(self, all);
  submit_operator(self, std::move(what), inputs, {&made});
  return made;
}

void wait(dataflow_handle& self, const py::object& given, const py::object& limit) {
  const auto& array = to<const device_array>(given, "array", "a DeviceArray");
  const auto bound = to_timeout(limit);
  const auto of = bytes_of(array);
  if (of) self.wait(bound, [&](dataflow& d, timeout step) { return d.wait(*of, step); });
}

void wait_all(dataflow_handle& self, const py::object& limit) {
  self.wait(to_timeout(limit), [](dataflow& d, timeout step) { return d.wait_all(step); });
}

std::string repr(const dataflow_counters& c) {
  return "<runtime.DataflowCounters submitted=" + std::to_string(c.submitted) +
         " concluded=" + std::to_string(c.concluded) + " failed=" + std::to_string(c.failed) +
         " skipped=" + std::to_string(c.skipped) + ">";
}

void bind_figures_of_dataflow(py::module_& m) {
  py::class_<dataflow_counters>(m, "DataflowCounters", "What a dataflow has done.")
      .def_readonly("submitted", &dataflow_counters::submitted, "Nodes.")
      .def_readonly("concluded", &dataflow_counters::concluded, "Known to have ended.")
      .def_readonly("failed", &dataflow_counters::failed, "Of these, failed themselves.")
      .def_readonly("skipped", &dataflow_counters::skipped,
                    "Of these, not run, as what they read had failed.")
      .def("__repr__", &repr);
}

dataflow_counters counters(dataflow_handle& self) {
  return without_gil([&] { return self.locked([](const dataflow& d) { return d.counters(); }); });
}

} // namespace

void bind_dataflow(py::module_& m) {
  bind_figures_of_dataflow(m);
  py::class_<dataflow_handle>(
      m, "Dataflow",
      "Work without streams and events: each node says which arrays it reads and writes, and runs "
      "once its inputs are ready; independent nodes run at once. The result is as if nodes ran one "
      "after the other. A node that fails marks all that read what it wrote: these do not run. "
      "Comes after what calls without a stream have left to do with its arrays; whoever else uses "
      "them waits first. Up to 64 streams work; of window nodes more, a submission waits. Any "
      "thread. As a with block it waits for all at the end.")
      .def(py::init(&make), py::arg("device") = py::none(), py::arg("streams") = 4,
           py::arg("window") = 1024, py::arg("priority") = 4)
      .def("submit", &submit, py::arg("work"), py::arg("inputs"), py::arg("outputs"),
           py::arg("attributes") = py::dict(), py::arg("name") = py::none(),
           "Submits an operator by name, or a Python function, which is called with numpy arrays "
           "over the inputs, read-only, and the outputs. Both are tuples of device arrays, or one; "
           "what it changes stands in both. Returns at once unless the window is full.")
      .def("apply", &apply, py::arg("work"), py::arg("inputs"), py::arg("attributes") = py::dict(),
           py::arg("dtype") = py::none(),
           "Submits an operator by name and returns its output, a fresh array, which later nodes "
           "may use at once.")
      .def(
          "after",
          [](dataflow_handle& self, const py::object& given) {
            const auto found = to<const event_handle>(given, "event", "an Event").get();
            if (found) self.submit([&](dataflow& d) { return d.after(*found); });
          },
          py::arg("event"), "Later nodes begin once the event's last record is reached.")
      .def("wait", &wait, py::arg("array"), py::arg("timeout") = py::none(),
           "Waits until what nodes write to the array is there; raises the failure of the node "
           "that wrote it, or the first cause why it did not run.")
      .def("wait_all", &wait_all, py::arg("timeout") = py::none(),
           "Waits for all nodes; raises the first failure since the last call that did, whether or not "
           "a wait for an array has raised it.")
      .def("counters", &counters, "What it has done.")
      .def(
          "__enter__", [](const py::object& self) { return self; }, "The dataflow itself.")
      .def(
          "__exit__",
          [](dataflow_handle& self, const py::object& type, const py::object&, const py::object&) {
            if (type.is_none()) wait_all(self, py::none());
          },
          "As wait_all, unless an exception leaves the block.")
      .def("__repr__", [](dataflow_handle& self) {
        const auto counts = counters(self);
        return "<runtime.Dataflow on device " + std::to_string(self.home->on().index()) + ", " +
               std::to_string(counts.submitted - counts.concluded) + " of " +
               std::to_string(counts.submitted) + " nodes under way>";
      });
}

} // namespace troupe::python
