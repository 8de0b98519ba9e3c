#include "api/python/src/simulated_run.hpp"

#include <string>
#include <vector>

#include <pybind11/stl.h>

#include "api/python/src/place.hpp"
#include "api/python/src/stage_handle.hpp"
#include "troupe/exploring.hpp"

namespace troupe::python {
namespace {

using testing::exploration_options;
using testing::simulation_options;

std::string to_json(const py::object& value) {
  if (py::isinstance<py::str>(value)) return to_text(value, "JSON");
  return py::module_::import("json").attr("dumps")(value).cast<std::string>();
}

cost_model costs_from(const py::dict& given) {
  cost_model made;
  for (const auto& [key, value] : given) {
    const auto name = to_text(key, "a kernel's name in costs");
    const auto nanoseconds =
        value.is_none() ? cost_model::never : to_index(value, ("costs of " + name).c_str());
    if (name == "launch_ns") made.launch_ns = nanoseconds;
    else if (name == "copy_setup_ns") made.copy_setup_ns = nanoseconds;
    else if (name == "callback_ns") made.callback_ns = nanoseconds;
    else made.kernels[name] = nanoseconds;
  }
  return made;
}

testing::order order_named(const std::string& name) {
  if (name == "fifo") return testing::order::fifo;
  if (name == "explore") return testing::order::explore;
  refuse("an order '" + name + "'; it is fifo or explore");
}

testing::work_end ends_named(const std::string& name) {
  if (name == "when_due") return testing::work_end::when_due;
  if (name == "any_order") return testing::work_end::any_order;
  refuse("work that ends '" + name + "'; it is when_due or any_order");
}

py::dict dict_of(const py::object& given, const char* name) {
  if (!py::isinstance<py::dict>(given)) refuse_type(name, "a dict", given);
  return given.cast<py::dict>();
}

bool truth_of(const py::object& given, const char* name) {
  if (!PyBool_Check(given.ptr())) refuse_type(name, "True or False", given);
  return given.cast<bool>();
}

std::vector<std::string> texts_of(const py::object& given, const char* name) {
  if (!py::isinstance<py::list>(given) && !py::isinstance<py::tuple>(given)) {
    refuse_type(name, "a list of str", given);
  }
  std::vector<std::string> made;
  for (const auto& each : given) made.push_back(to_text(each, name));
  return made;
}

// The keywords of runtime.testing as options of a run.
simulation_options options_from(const py::dict& given) {
  simulation_options made;
  for (const auto& [key, value] : given) {
    const auto name = to_text(key, "an option's name");
    const auto set = py::reinterpret_borrow<py::object>(value);
    if (name == "seed") made.seed = to_count(set, "seed");
    else if (name == "order") made.choice = order_named(to_text(set, "order"));
    else if (name == "ends") made.ends = ends_named(to_text(set, "ends"));
    else if (name == "costs") made.costs = costs_from(dict_of(set, "costs"));
    else if (name == "options") made.runtime = take(runtime_options::from_json(to_json(set)));
    else if (name == "script") made.replay_script = to_text(set, "script");
    else if (name == "steps_max") made.steps_max = to_count(set, "steps_max");
    else if (name == "keep_trace") made.keep_trace = truth_of(set, "keep_trace");
    else if (name == "plan") made.faults = take(fault_plan::from_json(to_json(set)));
    else if (name == "oracles_off") made.oracles_off = texts_of(set, "oracles_off");
    else throw py::type_error("a simulated run has no option '" + name + "'");
  }
  return made;
}

// Searches call the body on the thread that called them.
testing::explored_body body_of(const py::object& function) {
  if (PyCallable_Check(function.ptr()) == 0) refuse_type("body", "callable", function);
  const auto body = std::make_shared<const object_ref>(function);
  return [body](testing::stage& play) { run_body(*body, play); };
}

py::dict report_of(const testing::simulation_report& report) {
  py::list broken;
  for (const auto& each : report.violations) broken.append(describe(each));
  py::dict made;
  made["hang"] = report.hang;
  made["steps"] = report.steps;
  made["elapsed"] = std::chrono::duration<double>(report.elapsed).count();
  made["order_hash"] = report.order_hash;
  made["strategy"] = report.strategy;
  made["script"] = report.script;
  made["trace"] = report.trace;
  made["chain"] = report.chain;
  made["faults"] = py::module_::import("json").attr("loads")(report.faults.to_json());
  made["unmet"] = report.unmet;
  made["violations"] = broken;
  return made;
}

py::dict simulate(const py::object& function, const py::dict& given) {
  const auto options = options_from(given);
  const auto body = body_of(function);
  const auto report = without_gil([&] { return testing::try_simulate(options, body); });
  bury_objects();
  if (report.thrown) std::rethrow_exception(report.thrown);
  return report_of(report);
}

py::object failure_of(const testing::exploration_result& found) {
  if (!found.failure) return py::none();
  const auto& failed = *found.failure;
  py::dict made;
  made["seed"] = failed.seed;
  made["what"] = failed.what;
  made["script"] = failed.script;
  made["entries"] = failed.entries;
  made["reproduced"] = failed.reproduced;
  made["found_after"] = failed.found_after;
  made["trace"] = failed.trace;
  made["chain"] = failed.chain;
  return made;
}

exploration_options search_from(const py::dict& given, const char* seed_name,
                                const py::object& first_seed, const py::object& runs) {
  exploration_options made;
  made.base = options_from(given);
  made.first_seed = to_count(first_seed, seed_name);
  made.runs = to_count(runs, "runs");
  return made;
}

py::dict explore(const py::object& function, const py::dict& given, const py::object& first_seed,
                 const py::object& runs) {
  const auto options = search_from(given, "first_seed", first_seed, runs);
  const auto body = body_of(function);
  const auto found = without_gil([&] { return testing::explore(options, body); });
  py::dict made;
  made["runs"] = found.runs;
  made["distinct_orders"] = found.distinct_orders;
  made["steps"] = found.steps;
  made["failure"] = failure_of(found);
  made["never_fired"] = found.never_fired();
  made["description"] = found.describe();
  return made;
}

std::string replay(const py::object& function, const py::dict& given, const py::object& seed,
                   const py::object& line) {
  const auto options = search_from(given, "seed", seed, py::int_(1));
  const auto script = to_text(line, "script");
  const auto body = body_of(function);
  return without_gil([&] { return testing::replay(options, options.first_seed, script, body); });
}

py::dict sweep(const py::object& function, const py::dict& given, const py::object& every) {
  const auto stride = to_count(every, "stride");
  const auto options = options_from(given);
  const auto body = body_of(function);
  const auto found = without_gil(
      [&] { return testing::sweep(options, body, nullptr, testing::all_fault_classes(), stride); });
  py::list findings;
  for (const auto& each : found.findings) {
    findings.append(py::make_tuple(each.fault, each.victim, each.what));
  }
  py::dict made;
  made["runs"] = found.runs;
  made["faults"] = found.faults;
  made["findings"] = findings;
  made["description"] = found.describe();
  return made;
}

} // namespace

void bind_simulated_runs(py::module_& m) {
  bind_stages(m);
  m.def("_simulate", &simulate);
  m.def("_explore", &explore);
  m.def("_replay", &replay);
  m.def("_sweep", &sweep);
}

} // namespace troupe::python
