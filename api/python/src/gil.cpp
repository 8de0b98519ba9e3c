#include "api/python/src/gil.hpp"

#include <atomic>

#include <unistd.h>

namespace troupe::python {
namespace {

std::atomic<bool> is_closed{false};
std::atomic<bool> end_begun{false};
thread_local bool ends_here = false;

// The Python state of a thread that Python did not make.
struct own_state {
  PyThreadState* state = nullptr;

  own_state() = default;
  own_state(const own_state&) = delete;
  own_state& operator=(const own_state&) = delete;
  ~own_state() {
    if (state == nullptr || !python_is_open()) return;
    take_gil_back(state);
    PyThreadState_Clear(state);
    PyThreadState_DeleteCurrent();
  }
};

thread_local own_state mine;

} // namespace

bool python_is_open() noexcept { return !is_closed.load(std::memory_order_acquire); }

void close_python() noexcept { is_closed.store(true, std::memory_order_release); }

void begin_python_end() noexcept {
  ends_here = true;
  end_begun.store(true, std::memory_order_release);
}

bool python_ends_elsewhere() noexcept {
  return end_begun.load(std::memory_order_acquire) && !ends_here && mine.state == nullptr;
}

void park_thread() noexcept {
  for (;;) ::pause();
}

void take_gil_back(PyThreadState* saved) {
  try {
    PyEval_RestoreThread(saved);
  } catch (abi::__forced_unwind&) {
    park_thread();
  }
}

gil_entry::gil_entry() {
  auto* state = PyGILState_GetThisThreadState();
  if (state == nullptr) {
    state = PyThreadState_New(PyInterpreterState_Main());
    mine.state = state;
  } else if (PyGILState_Check() == 1) {
    return;
  }
  take_gil_back(state);
  taken_ = true;
}

gil_entry::~gil_entry() {
  if (taken_) PyEval_SaveThread();
}

PyObject* call_python(PyObject* function, PyObject* arguments) {
  try {
    return PyObject_Call(function, arguments, nullptr);
  } catch (abi::__forced_unwind&) {
    park_thread();
  }
}

} // namespace troupe::python
