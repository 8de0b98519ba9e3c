#include "api/python/src/operators.hpp"

#include <vector>

#include "api/python/src/captures.hpp"
#include "api/python/src/dataflow_handle.hpp"
#include "api/python/src/kernel.hpp"
#include "api/python/src/lanes.hpp"
#include "api/python/src/operands.hpp"
#include "api/python/src/stream_handle.hpp"
#include "core/operators/inference.hpp"
#include "troupe/operators/run_operator.hpp"

namespace troupe::python {
namespace {

// The arrays of a call, and what it does with their memory.
struct operands {
  std::vector<tensor> tensors;
  std::vector<memory_access> uses;

  void add(const device_array& array, bool writes) {
    tensors.push_back(tensor_of(array));
    uses.push_back({array.memory(), writes});
  }
};

const std::shared_ptr<place>& home_of_inputs(const py::tuple& inputs, const std::string& name) {
  if (inputs.empty()) refuse("operator '" + name + "' without inputs");
  const auto& home = array_of(inputs[0]).memory()->home();
  for (const auto& each : inputs) {
    const auto& other = array_of(each).memory()->home();
    if (other != home) {
      refuse("operator '" + name + "' with arrays of contexts " +
             std::to_string(home->home().id()) + " and " + std::to_string(other->home().id()));
    }
  }
  return home;
}

// Validates, allocates, schedules; completes unless it may do so later; what it took for itself
// goes back in stream order.
device_array apply(const py::object& named, const py::tuple& inputs, const py::dict& attributes,
                   const py::object& type, const py::object& stream) {
  const auto name = to_text(named, "name");
  auto what = describe_call(name, attributes);
  const auto& home = home_of_inputs(inputs, name);
  operands in;
  for (const auto& each : inputs) {
    const auto& array = array_of(each);
    what.inputs.push_back(layout_of(array));
    in.add(array, false);
  }
  const auto wanted = take(infer_output(what));
  const auto element = type.is_none() ? dtype_of(wanted.type) : to_dtype(type);
  auto made =
      device_array::allocate(home, element, {wanted.shape.begin(), wanted.shape.end()}, false);
  operands out;
  out.add(made, true);
  const auto& scratch = home->reuse();
  const auto run = [&](troupe::stream& on) {
    return run_operator(on, scratch, what, in.tensors, out.tensors);
  };
  if (!stream.is_none()) {
    const auto on = to_work_stream(stream);
    for (const auto& each : inputs) expect_at_home(*on, array_of(each));
    expect_at_home(*on, made);
    order_after_calls(*on);
    on->submit([&] { return run(on->on()); });
    keep_for_capture(on->on(), py::make_tuple(inputs, made));
    return made;
  }
  in.uses.push_back(out.uses.front());
  submit_on_lane(home, lane::compute, in.uses, run, py::none());
  return made;
}

py::list names() {
  py::list made;
  for (const auto& each : operator_signatures()) made.append(std::string(each.name));
  return made;
}

} // namespace

void launch_operator(work_stream& on, const std::string& name, const py::object& arguments) {
  bool known = false;
  for (const auto& each : operator_signatures()) known = known || each.name == name;
  if (!known) check(make_status(code::kernel_lookup, "there is no kernel '" + name + "'"));
  const auto given = to_arguments(arguments);
  if (given.size() < 2) refuse("operator '" + name + "' takes its inputs and its output");
  operands in, out;
  for (std::size_t i = 0; i < given.size(); ++i) {
    const auto& array = array_of(given[i]);
    expect_at_home(on, array);
    const bool last = i + 1 == given.size();
    if (last && !array.writable()) refuse("the output of '" + name + "' is read-only");
    (last ? out : in).add(array, last);
  }
  const auto& scratch = on.home()->reuse();
  order_after_calls(on);
  on.submit([&] {
    return run_operator(on.on(), scratch, {name, {}, {}, {}}, in.tensors, out.tensors);
  });
  keep_for_capture(on.on(), given);
}

void bind_operators(py::module_& m) {
  bind_dataflow(m);
  m.def(
      "apply_operator", &apply, py::arg("name"), py::arg("inputs"),
      py::arg("attributes") = py::dict(), py::arg("dtype") = py::none(),
      py::arg("stream") = py::none(),
      "Runs an operator by name over a tuple of device arrays and returns its output, a fresh "
      "one, of another dtype where the operator has a choice (cast). With a stream it returns at "
      "once. The module ops_nn has a function for each.");
  m.def("operator_names", &names, "The operators that there are.");
}

} // namespace troupe::python
