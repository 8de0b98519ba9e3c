#pragma once

#include "api/python/src/gil.hpp"

namespace troupe::python {

/// A Python object that the runtime may keep, move and let go on any thread and under any lock. The
/// object's own end comes later, with the GIL: at the next call of the module that lets objects go,
/// or when the main thread of Python next looks for pending calls.
class object_ref {
public:
  object_ref() noexcept = default;
  explicit object_ref(py::object kept) noexcept : kept_(kept.release().ptr()) {}
  object_ref(object_ref&& other) noexcept : kept_(std::exchange(other.kept_, nullptr)) {}
  object_ref& operator=(object_ref&& other) noexcept {
    std::swap(kept_, other.kept_);
    return *this;
  }
  ~object_ref();

  /// For who has the GIL.
  [[nodiscard]] PyObject* get() const noexcept { return kept_; }

private:
  PyObject* kept_ = nullptr;
};

/// Ends the objects that were let go. With the GIL.
void bury_objects();

} // namespace troupe::python
