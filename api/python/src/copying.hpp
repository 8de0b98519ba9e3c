#pragma once

#include "api/python/src/device_array.hpp"

/// Copies between host and device and within devices.
namespace troupe::python {

/// Copies `source`, host memory, to the beginning of `target`. With a stream it returns at once:
/// the source is kept alive, and must be left alone, until the copy has ended. Without one it
/// returns when the copy has ended, or with option enableAsync at once, of a snapshot of the
/// source.
void copy_to_device(const device_array& target, const py::object& source, const py::object& stream);

/// Fills `target`, host memory, from the beginning of `source`. With a stream it returns at once,
/// and the target is kept alive; without one it returns when the copy has ended.
void copy_to_host(const py::object& target, const device_array& source, const py::object& stream);

/// Copies all of `source` to the beginning of `target`, also of another device. With a stream it
/// returns at once, without one as `copy_to_device`.
void copy_on_device(const device_array& target, const device_array& source,
                    const py::object& stream);

/// Makes many small copies of one direction as one command: `copies` is a sequence of (target,
/// source), each as for the calls above. With a stream it returns at once, with their rules.
void copy_batch(const py::object& copies, const py::object& stream);

/// A fresh numpy array with what the array holds, after what calls without a stream do with it.
[[nodiscard]] py::array to_numpy(const device_array& source);

void bind_copies(py::module_& m);

} // namespace troupe::python
