#pragma once

#include <cstdint>

#include "api/python/src/gil.hpp"
#include "troupe/stream.hpp"

namespace troupe::python {

class work_stream;

/// While `on` captures, what a command of it needs is kept for the graph and not for a run.
void keep_for_capture(const stream& on, const py::object& object);

/// What a command refers to without keeping it: while its stream captures, the Python objects of
/// the graph keep it, so that Python's collector sees cycles through them. Made before the command
/// is submitted, settled behind that. With the GIL.
class capture_share {
public:
  capture_share() = default;
  capture_share(const stream& on, py::object object);

  [[nodiscard]] const py::object& object() const noexcept { return object_; }

  /// Else whoever made the command keeps the object.
  [[nodiscard]] bool kept_by_capture() const noexcept { return capture_ != 0; }

  /// Where the capture has ended meanwhile the command runs, and `on` keeps the object for that.
  void settle(work_stream& on) const;

private:
  py::object object_;
  std::uint64_t capture_ = 0;
};

void bind_graphs(py::module_& m);

} // namespace troupe::python
