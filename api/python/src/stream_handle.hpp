#pragma once

#include <memory>

#include "api/python/src/work_stream.hpp"

namespace troupe::python {

/// `runtime.Stream`.
struct stream_handle {
  std::shared_ptr<work_stream> work;
  bool destroyed = false;
};

/// The stream that `given` means: a Stream, or for None that of calls which name none, on the
/// current device. Raises TypeError for anything else.
[[nodiscard]] std::shared_ptr<work_stream> to_work_stream(const py::object& given);

void bind_streams(py::module_& m);

} // namespace troupe::python
