#include "api/python/src/registry.hpp"

#include "api/python/src/arguments.hpp"

namespace troupe::python {
namespace {

// Kept for the whole process: kernels may be asked for until its end.
py::dict kernels() {
  static auto* made = new py::dict;
  return *made;
}

py::object register_kernel(const py::object& given, const py::object& function) {
  const auto name = to_text(given, "name");
  if (name.empty()) refuse("a kernel without a name");
  if (PyCallable_Check(function.ptr()) == 0) {
    throw py::type_error("a kernel must be callable, not " + shown(function));
  }
  if (kernels().contains(name)) {
    check(make_status(code::kernel_duplicate, "there is a kernel '" + name + "' already"));
  }
  kernels()[py::str(name)] = function;
  return function;
}

} // namespace

std::optional<py::object> find_kernel(const std::string& name) {
  const auto all = kernels();
  if (!all.contains(name)) return std::nullopt;
  return py::object(all[py::str(name)]);
}

void bind_registry(py::module_& m) {
  m.def(
      "register_kernel", &register_kernel, py::arg("name"), py::arg("function"),
      "Has launch_kernel find a Python function by name. Raises 507028 for a name that is taken.");
  m.def(
      "unregister_kernel",
      [](const py::object& given) {
        const auto name = to_text(given, "name");
        if (!kernels().contains(name)) {
          check(make_status(code::kernel_lookup, "there is no kernel '" + name + "'"));
        }
        kernels().attr("pop")(given);
      },
      py::arg("name"), "Frees the name again. Raises 507027 for one that is not registered.");
}

} // namespace troupe::python
