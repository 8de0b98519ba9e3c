#include "api/python/src/stage_handle.hpp"

#include <chrono>
#include <cstddef>
#include <span>
#include <string>

#include "api/python/src/host_range.hpp"
#include "api/python/src/interruption.hpp"
#include "api/python/src/lanes.hpp"
#include "api/python/src/work_stream.hpp"

namespace troupe::python {
namespace {

// What Python code on a thread of a simulated run is called by: its exceptions pass through.
void call_in_run(const std::shared_ptr<session>& runs, const object_ref& function,
                 const py::tuple& arguments) {
  const session_scope here(runs);
  const auto made = py::reinterpret_steal<py::object>(call_python(function.get(), arguments.ptr()));
  if (!made) throw_python_error();
}

testing::client start_client(const stage_handle& self, const py::object& named,
                             const py::object& function, const py::args& arguments) {
  const auto name = to_text(named, "name");
  if (PyCallable_Check(function.ptr()) == 0) refuse_type("function", "callable", function);
  struct job {
    std::shared_ptr<session> runs;
    object_ref function;
    object_ref arguments;
  };
  const auto todo = std::make_shared<const job>(
      job{self.runs(), object_ref(function), object_ref(py::tuple(arguments))});
  auto& play = self.play();
  return without_gil([&] {
    return play.start_client(name, [todo] {
      const gil_entry held;
      call_in_run(todo->runs, todo->function,
                  py::reinterpret_borrow<py::tuple>(todo->arguments.get()));
    });
  });
}

void observe(const stage_handle& self, const py::object& named, const py::object& value) {
  const auto name = to_text(named, "name");
  const bool shares = PyObject_CheckBuffer(value.ptr()) != 0;
  const auto bytes = readable(shares ? value : py::object(py::bytes(py::repr(value))));
  auto& play = self.play();
  without_gil([&] { play.observe(name, std::span<const std::byte>(bytes.data, bytes.bytes)); });
}

void pass_time(const stage_handle& self, const py::object& given) {
  (void)to_timeout(given, "seconds");
  const auto seconds = to_number(given, "seconds");
  auto& play = self.play();
  without_gil(
      [&] { play.pass_time(std::chrono::nanoseconds(static_cast<std::int64_t>(seconds * 1e9))); });
}

void wait_until(const stage_handle& self, const py::object& holds) {
  if (PyCallable_Check(holds.ptr()) == 0) refuse_type("holds", "callable", holds);
  auto& play = self.play();
  without_gil([&] {
    play.wait_until([&] {
      const gil_entry held;
      const auto answer =
          py::reinterpret_steal<py::object>(call_python(holds.ptr(), py::tuple().ptr()));
      const int truth = answer ? PyObject_IsTrue(answer.ptr()) : -1;
      if (truth < 0) throw_python_error();
      return truth == 1;
    });
  });
}

} // namespace

stage_handle::stage_handle(testing::stage& play)
    : play_(&play),
      runs_(std::make_shared<session>(
          std::shared_ptr<troupe::runtime>(std::shared_ptr<void>(), &play.runtime()), false)) {}

void stage_handle::close() {
  play_ = nullptr;
  runs_->forget();
}

testing::stage& stage_handle::play() const {
  if (play_ == nullptr) check(make_status(code::uninitialized, "the simulated run is over"));
  return *play_;
}

void run_body(const object_ref& body, testing::stage& play) {
  const gil_entry held;
  const auto handle = std::make_shared<stage_handle>(play);
  const auto finish = gsl::finally([&] {
    handle->close();
    drop_ended_lanes();
    let_go_orphans();
    bury_objects();
  });
  call_in_run(handle->runs(), body, py::make_tuple(handle));
}

void bind_stages(py::module_& m) {
  py::class_<testing::client>(m, "Client", "A client thread of a simulated run.")
      .def(
          "join", [](testing::client& self) { without_gil([&] { self.join(); }); },
          "Waits, in virtual time, until it has ended; raises what it raised.");

  py::class_<stage_handle, std::shared_ptr<stage_handle>>(
      m, "Stage", "What the body of a simulated run is given; good until that returns.")
      .def("start_client", &start_client, py::arg("name"), py::arg("function"),
           "A thread that runs function(*args) when it is its turn. Other threads must not use "
           "the runtime of the run.")
      .def("observe", &observe, py::arg("name"), py::arg("value"),
           "Puts a result on record: bytes of an array, or the repr of anything else.")
      .def("pass_time", &pass_time, py::arg("seconds"), "Waits so long in virtual time.")
      .def("wait_until", &wait_until, py::arg("holds"),
           "Lets things happen until holds() is true; a hang when nothing can happen any more.")
      .def_property_readonly(
          "elapsed",
          [](const stage_handle& self) {
            return std::chrono::duration<double>(self.play().elapsed()).count();
          },
          "Virtual seconds since the run began.");
}

} // namespace troupe::python
