#pragma once

#include <functional>
#include <string>
#include <vector>

#include "api/python/src/device_array.hpp"
#include "api/python/src/work_stream.hpp"
#include "core/access.hpp"
#include "core/block.hpp"

/// Kernels and callbacks written in Python.
namespace troupe::python {

/// A launch as Python asks for it.
struct kernel_launch {
  py::object function;
  py::object arguments; ///< a tuple, a list, or one argument
  py::object blocks;    ///< None: one, and the kernel does not ask which
  py::object name;      ///< None: the function's own
};

/// Submits the launch of a Python function: device arrays among the arguments reach it as numpy
/// arrays over the same memory, everything else as it is. What it raises fails the task.
void launch_python_kernel(work_stream& on, const kernel_launch& launch);

/// The same without a stream, in the context of the arrays, or without any in that of the current
/// device: after what earlier calls of the kind have to do with the arrays; those that are
/// read-only are read.
void launch_python_kernel(const kernel_launch& launch);

/// Submits `function(*arguments)` as a host callback.
void launch_python_callback(work_stream& on, const py::object& function, py::tuple arguments);

/// The tuple that `given` means: itself, a list's elements, or one argument.
[[nodiscard]] py::tuple to_arguments(const py::object& given);

/// Raises 107000 unless `array` lies in the context of `on`; tells a pool of the use.
void expect_at_home(const work_stream& on, const device_array& array);

/// A call of a Python function as a kernel of one block, for work in `home` on any stream.
[[nodiscard]] std::function<status()> as_kernel(const place& home, const py::object& function,
                                                py::tuple arguments);

/// Has kernels that run Python code stop, by an exception `runtime.Stopped` that is raised in them:
/// those that were told to stop, and those whose context or runtime ends. Such kernels do not begin
/// any more either.
void interrupt_kernels();

void bind_kernels(py::module_& m);

} // namespace troupe::python
