#include "api/python/src/session.hpp"

#include <utility>

#include "actors/user_scope.hpp"
#include "api/python/src/kernel.hpp"
#include "api/python/src/method.hpp"
#include "api/python/src/place.hpp"
#include "core/runtime_options.hpp"

namespace troupe::python {
namespace {

std::shared_ptr<session> the_session; // what `init` made; by the GIL
thread_local std::shared_ptr<session> simulated;
thread_local std::int64_t device_of_thread = 0;

std::shared_ptr<session> open_session() noexcept {
  const auto& found = simulated ? simulated : the_session;
  return found && found->is_open() ? found : nullptr;
}

runtime_options options_from(const py::kwargs& given) {
  const auto json = py::module_::import("json").attr("dumps")(given).cast<std::string>();
  return take(runtime_options::from_json(json));
}

std::shared_ptr<session> init(const py::kwargs& options) {
  if (!python_is_open()) {
    check(make_status(code::uninitialized, "the interpreter is about to end"));
  }
  if (auto open = open_session()) {
    if (options.empty()) return open;
    check(make_status(code::repeat_initialize,
                      "the runtime is there already; options are for its first init or the first "
                      "after a shutdown"));
  }
  if (simulated) {
    check(make_status(code::uninitialized,
                      "the runtime of this simulated run has been shut down; it has one"));
  }
  auto wanted = options_from(options);
  auto made = std::make_shared<troupe::runtime>(
      take(without_gil([&] { return troupe::runtime::create(std::move(wanted), true); })));
  if (auto open = open_session()) return open; // another thread was faster
  the_session = std::make_shared<session>(std::move(made), true);
  return the_session;
}

void shutdown() {
  if (auto open = open_session()) open->shut_down(true);
}

// The end of the interpreter: nothing of the runtime's may need Python afterwards.
void end_with_python() {
  begin_python_end();
  try {
    if (the_session) the_session->shut_down(true);
  } catch (py::error_already_set& e) {
    e.discard_as_unraisable("the end of the runtime"); // names the threads still in user code
  }
  bury_objects();
  the_session.reset();
  close_python();
}

// A forked child has none of the runtime's threads: what it inherited is left alone, for good.
void begin_in_child() {
  if (the_session) (void)new std::shared_ptr<session>(std::move(the_session));
  the_session.reset();
}

void set_device(std::int64_t index) {
  (void)take(current_session()->runtime()->profile(index));
  device_of_thread = index;
}

py::list diagnostics() {
  py::list made;
  for (const auto& each : current_session()->runtime()->diagnostics()) made.append(each.message);
  return made;
}

} // namespace

session::session(std::shared_ptr<troupe::runtime> runs, bool live)
    : runtime_(std::move(runs)), live_(live), end_(std::make_shared<ending>()) {}

session::~session() {
  places_.clear();
  if (runtime_.use_count() == 1) without_gil([this] { runtime_.reset(); });
}

const std::shared_ptr<troupe::runtime>& session::runtime() const {
  if (!open_) check(make_status(code::uninitialized, "the runtime has been shut down"));
  return runtime_;
}

device session::device_at(std::int64_t index) const {
  const auto& from = runtime();
  return take(without_gil([&] { return from->device(index); }));
}

std::shared_ptr<place> session::place_of(std::int64_t index) {
  const auto found = places_.find(index);
  if (found != places_.end()) return found->second;
  const auto where = device_at(index);
  auto made = place::make(runtime_, end_, live_, where);
  enlist(made);
  return places_.emplace(index, std::move(made)).first->second; // the first thread's counts
}

std::vector<std::shared_ptr<place>> session::places() const {
  std::vector<std::shared_ptr<place>> made;
  for (const auto& [index, each] : places_) made.push_back(each);
  return made;
}

void session::reset(std::int64_t index) {
  const auto where = device_at(index);
  if (const auto own = places_.find(index); own != places_.end()) own->second->end()->begun = true;
  interrupt_kernels();
  const auto outcome = without_gil([&] { return where.reset(); });
  places_.erase(index);
  bury_objects();
  check(outcome);
}

void session::forget() {
  open_ = false;
  places_.clear();
}

void session::enlist(const std::shared_ptr<place>& made) {
  std::erase_if(all_, [](const auto& each) { return each.expired(); });
  all_.push_back(made);
}

status session::take_untold() const {
  for (const auto& each : all_) {
    const auto found = each.lock();
    if (!found) continue;
    if (auto untold = found->take_untold(); !untold.ok()) return untold;
  }
  return {};
}

void session::shut_down(bool tells) {
  if (!open_) return;
  check(user_scope::refuse_inside("shutdown"));
  open_ = false;
  auto untold = tells ? take_untold() : status{};
  const bool drains = runtime_->options().drain_ms != 0; // then what was accepted may still run
  end_->begun = !drains;
  interrupt_kernels();
  const auto outcome = without_gil([this] { return runtime_->shutdown(); });
  if (tells && drains && untold.ok()) untold = take_untold();
  places_.clear();
  bury_objects();
  check(outcome);
  check(untold);
}

std::shared_ptr<session> current_session() {
  auto open = open_session();
  if (!open)
    check(make_status(code::uninitialized, "the runtime is not there: call runtime.init()"));
  return open;
}

session_scope::session_scope(std::shared_ptr<session> s)
    : before_(std::exchange(simulated, std::move(s))) {}

session_scope::~session_scope() { simulated = std::move(before_); }

std::int64_t current_device() noexcept { return device_of_thread; }

void bind_session(py::module_& m) {
  py::class_<session, std::shared_ptr<session>>(
      m, "Session", "What init returns: ends the runtime as a with block is left.")
      .def(
          "__enter__", [](const py::object& self) { return self; }, "The session itself.")
      .def(
          "__exit__",
          [](session& self, const py::object& type, const py::object&, const py::object&) {
            self.shut_down(type.is_none());
          },
          "As shutdown; when an exception leaves the block, that is the failure to tell of.")
      .def(
          "shutdown", [](session& self) { self.shut_down(true); },
          "The same as runtime.shutdown().")
      .def_property_readonly("is_open", method(&session::is_open), "False once it was shut down.")
      .def("__repr__", [](const session& self) {
        return std::string("<runtime.Session, ") + (self.is_open() ? "open>" : "shut down>");
      });
  m.def("init", &init,
        "Makes the runtime. Keyword arguments are its options (devices=2, compute_threads=4, "
        "...); environment variables win over them. Again without options does nothing.");
  m.def("shutdown", &shutdown,
        "Ends the runtime: drops what is pending and returns within a bound. Raises the first "
        "failure of work that nobody was told of; the runtime has ended all the same. Refused in "
        "kernels and callbacks (207000). Without a runtime it does nothing.");
  m.def(
      "is_initialized", [] { return open_session() != nullptr; },
      "Whether there is a runtime for this thread.");
  m.def(
      "set_device", [](const py::object& d) { set_device(to_index(d, "device")); },
      py::arg("device"), "Makes a device, by index or Device, the calling thread's current one.");
  m.def("diagnostics", &diagnostics,
        "Legal but most likely mistaken things that the program did, as texts.");
  m.def("_end_with_python", &end_with_python);
  m.def("_begin_in_child", &begin_in_child);
  py::module_::import("os").attr("register_at_fork")(py::arg("after_in_child") =
                                                         m.attr("_begin_in_child"));
  py::module_::import("atexit").attr("register")(m.attr("_end_with_python"));
}

} // namespace troupe::python
