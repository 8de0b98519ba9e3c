#include "api/python/src/kernel.hpp"

#include <cstdint>
#include <list>
#include <memory>

#include "api/python/src/captures.hpp"
#include "api/python/src/lanes.hpp"
#include "api/python/src/method.hpp"
#include "core/task.hpp"

namespace troupe::python {
namespace {

// The kernels that run now; by the GIL.
struct running_kernel {
  unsigned long thread;
  stop_view stop;
  std::shared_ptr<const ending> end;

  [[nodiscard]] bool unwanted() const noexcept { return stop.requested() || end->has_begun(); }
};

std::list<running_kernel>& running() {
  static auto* made = new std::list<running_kernel>;
  return *made;
}

// A function and its arguments on their way to an engine; shared by the blocks of a launch. Those
// of a graph are kept by the Python objects that stand for it, where Python's collector sees them:
// here nothing is kept then.
struct python_call {
  PyObject* function;
  PyObject* arguments;
  object_ref kept; // a tuple of the two
  std::shared_ptr<const ending> end;
  bool wants_block = false;
  std::uint64_t stream = 0;
  code fallback = code::kernel_exception;
};

py::tuple with_block(const python_call& call, const block& b) {
  const auto rest = py::reinterpret_borrow<py::tuple>(call.arguments);
  py::tuple made(rest.size() + 1);
  made[0] = py::cast(b);
  for (std::size_t i = 0; i < rest.size(); ++i) made[i + 1] = rest[i];
  return made;
}

// With the GIL.
status run_held(const python_call& call, const block& b) {
  bury_objects();
  const running_kernel self{PyThread_get_thread_ident(), b.stop, call.end};
  if (self.unwanted()) return make_status(call.fallback, "nobody wants it any more");
  const auto place = running().insert(running().end(), self);
  const auto function = py::reinterpret_borrow<py::object>(call.function);
  const auto arguments = call.wants_block ? with_block(call, b)
                                          : py::reinterpret_borrow<py::tuple>(call.arguments);
  const auto made =
      py::reinterpret_steal<py::object>(call_python(function.ptr(), arguments.ptr()));
  running().erase(place);
  // What was to stop this kernel shall not reach the next one on this thread.
  PyThreadState_SetAsyncExc(PyThread_get_thread_ident(), nullptr);
  return made ? status{} : take_python_error(call.fallback, call.stream);
}

status run_call(const python_call& call, const block& b) {
  if (!python_is_open()) {
    return make_status(code::kernel_exception, "the interpreter has ended");
  }
  const gil_entry held;
  try {
    return run_held(call, b);
  } catch (const std::exception& e) {
    return make_status(call.fallback, e.what());
  }
}

std::string name_for(const kernel_launch& launch) {
  if (!launch.name.is_none()) {
    auto given = to_text(launch.name, "name");
    if (given.empty()) refuse("name is empty; a kernel without one is called as its function");
    return given;
  }
  const auto own = py::getattr(launch.function, "__name__", py::none());
  return py::isinstance<py::str>(own) ? to_text(own, "__name__") : "kernel";
}

std::uint32_t blocks_of(const kernel_launch& launch) {
  if (launch.blocks.is_none()) return 1;
  const auto count = to_index(launch.blocks, "blocks");
  if (count < 1 || count > UINT32_MAX) {
    refuse("blocks is " + std::to_string(count) + "; a launch has 1 to 4294967295");
  }
  return static_cast<std::uint32_t>(count);
}

void expect_callable(const py::object& function, const char* what) {
  if (PyCallable_Check(function.ptr()) != 0) return;
  throw py::type_error(std::string(what) + " must be callable, not " + shown(function));
}

// Calling one of these runs nothing of it.
void expect_no_generator(const py::object& function) {
  if (PyFunction_Check(function.ptr()) == 0) return;
  const auto flags = function.attr("__code__").attr("co_flags").cast<int>();
  if ((flags & (CO_GENERATOR | CO_COROUTINE | CO_ASYNC_GENERATOR)) == 0) return;
  throw py::type_error("a kernel must be a plain function, not the generator or coroutine " +
                       shown(function));
}

// A launch whose arguments have been looked at.
struct ready_kernel {
  task what;
  std::shared_ptr<const python_call> call;
  capture_share share;
  std::vector<access_range> ranges;
  std::vector<memory_access> uses;

  status submit(stream& on) {
    return on.launch_over(
        what, [kept = call](const block& b) { return run_call(*kept, b); }, ranges);
  }
};

std::shared_ptr<const python_call> make_call(const work_stream& on, const capture_share& share,
                                             bool wants_block, code fallback) {
  const auto& both = share.object();
  const auto function = both[py::int_(0)];
  const auto arguments = both[py::int_(1)];
  return std::make_shared<const python_call>(python_call{
      py::object(function).ptr(), py::object(arguments).ptr(),
      share.kept_by_capture() ? object_ref() : object_ref(both), on.home()->end(), wants_block,
      on.on().id(), fallback});
}

ready_kernel prepare(const kernel_launch& launch, const work_stream& on) {
  bury_objects();
  expect_callable(launch.function, "a kernel");
  expect_no_generator(launch.function);
  const auto given = to_arguments(launch.arguments);
  py::tuple passed(given.size());
  ready_kernel made{task(std::string_view(name_for(launch)), blocks_of(launch)), {}, {}, {}, {}};
  for (std::size_t i = 0; i < given.size(); ++i) {
    const py::object each = given[i];
    if (!py::isinstance<device_array>(each)) {
      passed[i] = each;
      continue;
    }
    const auto& array = each.cast<const device_array&>();
    expect_at_home(on, array);
    passed[i] = array.host_view();
    const auto mode = array.writable() ? access_mode::write : access_mode::read;
    made.ranges.push_back({array.data(), array.bytes(), mode});
    made.uses.push_back({array.memory(), array.writable()});
  }
  made.share = capture_share(on.on(), py::make_tuple(launch.function, passed));
  made.call = make_call(on, made.share, !launch.blocks.is_none(), code::kernel_exception);
  return made;
}

std::shared_ptr<place> home_of(const kernel_launch& launch) {
  for (const auto& each : to_arguments(launch.arguments)) {
    if (py::isinstance<device_array>(each)) {
      return each.cast<const device_array&>().memory()->home();
    }
  }
  return to_place(py::none());
}

} // namespace

py::tuple to_arguments(const py::object& given) {
  if (py::isinstance<py::tuple>(given)) return given.cast<py::tuple>();
  if (py::isinstance<py::list>(given)) return py::tuple(given);
  if (given.is_none()) return py::tuple();
  return py::make_tuple(given);
}

void expect_at_home(const work_stream& on, const device_array& array) {
  const auto& home = array.memory()->home();
  if (home->home().id() != on.home()->home().id() || home->runs() != on.home()->runs()) {
    refuse("the array is memory of context " + std::to_string(home->home().id()) + " on device " +
           std::to_string(home->on().index()) + "; the stream is of context " +
           std::to_string(on.home()->home().id()) + " on device " +
           std::to_string(on.home()->on().index()));
  }
  array.memory()->used_on(on.on());
}

void launch_python_kernel(work_stream& on, const kernel_launch& launch) {
  on.let_go_ended();
  auto ready = prepare(launch, on);
  order_after_calls(on);
  on.submit([&] { return ready.submit(on.on()); });
  ready.share.settle(on);
}

void launch_python_kernel(const kernel_launch& launch) {
  const auto home = home_of(launch);
  const auto on = lanes_of(home).at(lane::compute);
  auto ready = prepare(launch, *on);
  submit_on_lane(
      home, lane::compute, ready.uses, [&](stream& s) { return ready.submit(s); }, py::none());
}

void launch_python_callback(work_stream& on, const py::object& function, py::tuple arguments) {
  bury_objects();
  expect_callable(function, "a callback");
  const task t(std::string_view(name_for({function, py::none(), py::none(), py::none()})));
  const capture_share share(on.on(), py::make_tuple(function, arguments));
  const auto call = make_call(on, share, false, code::internal_error);
  order_after_calls(on);
  on.submit([&] {
    return on.on().callback(t, [call] {
      const auto outcome = run_call(*call, {});
      if (!outcome.ok()) throw troupe::error(outcome);
    });
  });
  share.settle(on);
}

void interrupt_kernels() {
  const auto stopped = py::module_::import("runtime.errors").attr("Stopped");
  for (const auto& each : running()) {
    if (each.thread == PyThread_get_thread_ident()) continue;
    if (each.unwanted()) PyThreadState_SetAsyncExc(each.thread, stopped.ptr());
  }
}

std::function<status()> as_kernel(const place& home, const py::object& function,
                                  py::tuple arguments) {
  bury_objects();
  expect_callable(function, "a kernel");
  expect_no_generator(function);
  const auto both = py::make_tuple(function, arguments);
  const auto call = std::make_shared<const python_call>(
      python_call{function.ptr(), arguments.ptr(), object_ref(both), home.end(), false, 0,
                  code::kernel_exception});
  return [call] { return run_call(*call, {}); };
}

void bind_kernels(py::module_& m) {
  m.def(
      "launch_kernel",
      [](const py::object& kernel, const py::object& arguments, const py::object& blocks,
         const py::object& name) {
        launch_python_kernel({kernel, arguments, blocks, name});
      },
      py::arg("kernel"), py::arg("args") = py::tuple(), py::kw_only(),
      py::arg("blocks") = py::none(), py::arg("name") = py::none(),
      "Runs a Python function on the device as Stream.launch_kernel does, after what earlier "
      "calls without a stream have to do with its arrays, and returns when it has ended, unless "
      "option enableAsync is set. Arrays that are read_only() are read, others written.");

  py::class_<block>(m, "Block", "Which part of a launch a call of its kernel is.")
      .def_readonly("index", &block::index, "From 0; each block runs once, in any order.")
      .def_readonly("count", &block::count, "Blocks of the launch.")
      .def_property_readonly(
          "stop_requested", method(&block::stop_requested),
          "Whether nobody wants the result any more: a long kernel returns then.")
      .def("__repr__", [](const block& b) {
        return "<runtime.Block " + std::to_string(b.index) + " of " + std::to_string(b.count) + ">";
      });
}

} // namespace troupe::python
