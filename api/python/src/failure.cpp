#include "api/python/src/failure.hpp"

#include <algorithm>
#include <deque>

#include "actors/simulation/simulation.hpp"
#include "api/python/src/interruption.hpp"

namespace troupe::python {
namespace {

// What keeps the exception of a kernel with the record of its failure, wherever that goes.
struct exception_keeper {
  std::shared_ptr<object_ref> raised;
  void operator()(const error_record* record) const { delete record; }
};

// Failures that Python code was told of: the newest, as streams keep no more than some either. By
// the GIL.
class told_failures {
public:
  void add(const std::shared_ptr<const error_record>& record) {
    if (!newest_.empty() && newest_.back().lock() == record) return; // raised again and again
    newest_.push_back(record);
    if (newest_.size() > 512) newest_.pop_front();
  }

  [[nodiscard]] bool has(const std::shared_ptr<const error_record>& record) const {
    return std::any_of(newest_.begin(), newest_.end(),
                       [&](const auto& each) { return each.lock() == record; });
  }

private:
  std::deque<std::weak_ptr<const error_record>> newest_;
};

told_failures& told() {
  static auto* made = new told_failures;
  return *made;
}

py::module_ errors() { return py::module_::import("runtime.errors"); }

// What Python code raised, if the record is of that; else null.
py::object raised_behind(const std::shared_ptr<const error_record>& record) {
  const auto* keeper = std::get_deleter<exception_keeper>(record);
  if (keeper == nullptr) return {};
  return py::reinterpret_borrow<py::object>(keeper->raised->get());
}

py::dict origin_of(const error_record& record) {
  py::dict made;
  if (record.device) made["device"] = *record.device;
  if (record.context != 0) made["context"] = record.context;
  if (record.stream != 0) made["stream"] = record.stream;
  if (record.task_number != 0) made["task_number"] = record.task_number;
  if (!record.task_name.empty()) made["task_name"] = record.task_name;
  if (record.thread != 0) made["thread"] = record.thread;
  if (record.site.line != 0) {
    made["site"] = std::string(record.site.file) + ":" + std::to_string(record.site.line);
  }
  if (!record.plan_entry.empty()) made["plan_entry"] = record.plan_entry;
  if (record.lacking) {
    py::dict lacking;
    lacking["resource"] = record.lacking->resource;
    lacking["asked"] = record.lacking->asked;
    lacking["used"] = record.lacking->used;
    lacking["limit"] = record.lacking->limit;
    made["lacking"] = lacking;
  }
  return made;
}

py::object exception_of(const std::shared_ptr<const error_record>& record) {
  told().add(record);
  auto cause = raised_behind(record);
  if (!cause && record->cause) cause = raised_behind(record->cause);
  if (!cause && record->cause) cause = exception_of(record->cause);
  if (!cause) cause = py::none();
  return errors().attr("_make")(static_cast<int>(record->what),
                                std::string(to_string(record->what)), record->message,
                                origin_of(*record), cause);
}

std::string text_of(py::handle raised) {
  try {
    const auto name = py::str(py::type::handle_of(raised).attr("__name__")).cast<std::string>();
    const auto text = py::str(raised).cast<std::string>();
    return text.empty() ? name : name + ": " + text;
  } catch (py::error_already_set&) {
    return "an exception that cannot be shown";
  }
}

// The exception that is set, with its traceback, and set no more.
py::object fetch_raised() {
  PyObject* type = nullptr;
  PyObject* value = nullptr;
  PyObject* trace = nullptr;
  PyErr_Fetch(&type, &value, &trace);
  PyErr_NormalizeException(&type, &value, &trace);
  if (trace != nullptr) PyException_SetTraceback(value, trace);
  Py_XDECREF(type);
  Py_XDECREF(trace);
  return py::reinterpret_steal<py::object>(value);
}

} // namespace

py::object make_exception(const status& failed) { return exception_of(failed.record()); }

bool was_told(const status& failed) { return told().has(failed.record()); }

void check(const status& outcome) {
  if (outcome.ok()) return;
  const auto made = make_exception(outcome);
  if (python_ends_elsewhere()) {
    PyErr_SetObject(PyExc_SystemExit, py::str("the interpreter is about to end").ptr());
    throw py::error_already_set();
  }
  PyErr_SetObject(py::type::handle_of(made).ptr(), made.ptr());
  throw py::error_already_set();
}

void refuse(std::string message) {
  check(make_status(code::invalid_parameter, std::move(message)));
  std::terminate(); // not reached: a failure is never a success
}

status take_python_error(code what, std::uint64_t stream) {
  auto raised = fetch_raised();
  error_record record;
  record.what = what;
  record.message = "raised " + text_of(raised);
  record.stream = stream;
  auto kept = std::make_shared<object_ref>(std::move(raised));
  return status(std::shared_ptr<const error_record>(new error_record(std::move(record)),
                                                    exception_keeper{std::move(kept)}));
}

python_error::python_error(py::object raised)
    : std::runtime_error(text_of(raised)),
      raised_(std::make_shared<object_ref>(std::move(raised))) {}

void python_error::restore() const {
  auto* raised = raised_->get();
  PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(raised)), raised);
}

void throw_python_error() {
  auto raised = fetch_raised();
  if (py::isinstance(raised, errors().attr("RunEnded"))) rethrow_run_end();
  throw python_error(std::move(raised));
}

void bind_failures(py::module_&) {
  py::register_exception_translator([](std::exception_ptr thrown) {
    try {
      std::rethrow_exception(std::move(thrown));
    } catch (const python_error& e) {
      e.restore();
    } catch (const simulated_hang& e) {
      keep_run_end(std::current_exception());
      PyErr_SetString(errors().attr("RunEnded").ptr(), e.what());
    } catch (const troupe::error& e) {
      const auto made = e.outcome().ok() ? py::object() : make_exception(e.outcome());
      if (made) PyErr_SetObject(py::type::handle_of(made).ptr(), made.ptr());
      else PyErr_SetString(PyExc_RuntimeError, e.what());
    }
  });
}

} // namespace troupe::python
