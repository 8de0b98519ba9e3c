#pragma once

#include "api/python/src/gil.hpp"

namespace troupe::python {

/// Has Python's collector find cycles through objects of class `T`, which has `refers_to()`, the
/// Python object that it keeps, and `clear()`, which lets that go and whatever needs it.
template <class T>
struct collected {
  static T* of(PyObject* self) {
    auto held = reinterpret_cast<py::detail::instance*>(self)->get_value_and_holder();
    return static_cast<T*>(held.value_ptr());
  }

  static int traverse(PyObject* self, visitproc visit, void* arg) {
    if (const auto* found = of(self)) Py_VISIT(found->refers_to().ptr());
    Py_VISIT(Py_TYPE(self));
    return 0;
  }

  static int clear(PyObject* self) {
    if (auto* found = of(self)) found->clear();
    return 0;
  }

  static void set_up(PyHeapTypeObject* type) {
    type->ht_type.tp_flags |= Py_TPFLAGS_HAVE_GC;
    type->ht_type.tp_traverse = &traverse;
    type->ht_type.tp_clear = &clear;
  }
};

} // namespace troupe::python
