#include "api/python/src/object_ref.hpp"

#include <atomic>

namespace troupe::python {
namespace {

struct dead_object {
  PyObject* object;
  dead_object* next;
};

// No lock, which a fork could leave locked for ever in its child.
std::atomic<dead_object*> newest{nullptr};

int bury_when_asked(void*) {
  bury_objects();
  return 0;
}

} // namespace

object_ref::~object_ref() {
  if (kept_ == nullptr || !python_is_open()) return;
  auto* const made = new dead_object{kept_, nullptr};
  auto* before = newest.load(std::memory_order_relaxed);
  do {
    made->next = before;
  } while (!newest.compare_exchange_weak(before, made, std::memory_order_release,
                                         std::memory_order_relaxed));
  // May be refused when many wait: then the next call of the module does it.
  if (before == nullptr) (void)Py_AddPendingCall(&bury_when_asked, nullptr);
}

void bury_objects() {
  if (newest.load(std::memory_order_relaxed) == nullptr) return;
  auto* each = newest.exchange(nullptr, std::memory_order_acquire);
  const py::error_scope untouched; // of whoever is interrupted by this
  while (each != nullptr) {
    Py_DECREF(each->object);
    delete std::exchange(each, each->next);
  }
}

} // namespace troupe::python
