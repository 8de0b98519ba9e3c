#include "api/python/src/object_ref.hpp"

#include <mutex>
#include <vector>

namespace troupe::python {
namespace {

struct mortuary {
  std::mutex guard;
  std::vector<PyObject*> dead;
};

// Never destroyed: threads of the runtime may come here at the very end of the process.
mortuary& house() {
  static auto* made = new mortuary;
  return *made;
}

int bury_when_asked(void*) {
  bury_objects();
  return 0;
}

} // namespace

object_ref::~object_ref() {
  if (kept_ == nullptr || !python_is_open()) return;
  auto& place = house();
  bool first = false;
  {
    const std::lock_guard lock(place.guard);
    first = place.dead.empty();
    place.dead.push_back(kept_);
  }
  // May be refused when many wait: then the next call of the module does it.
  if (first) (void)Py_AddPendingCall(&bury_when_asked, nullptr);
}

void bury_objects() {
  auto& place = house();
  std::vector<PyObject*> dead;
  {
    const std::lock_guard lock(place.guard);
    if (place.dead.empty()) return;
    dead.swap(place.dead);
  }
  const py::error_scope untouched; // of whoever is interrupted by this
  for (auto* each : dead) Py_DECREF(each);
}

} // namespace troupe::python
