#pragma once

#include <algorithm>
#include <exception>
#include <functional>

#include "actors/submit_patience.hpp"
#include "api/python/src/failure.hpp"
#include "troupe/duration.hpp"

namespace troupe::python {

/// How long a wait may last in seconds, as Python says it: None is for ever. Raises TypeError for
/// what is no number, 107000 for one that is not positive. `name` is the parameter's.
[[nodiscard]] timeout to_timeout(const py::object& seconds, const char* name = "timeout");

/// Waits by `wait`, without the GIL, until it ends with something else than `expired` or `limit`
/// has passed; raises what it ended with. A live wait goes in slices, between which Python looks
/// for signals, so that Ctrl-C ends it: what is waited for goes on. In a simulated run (`live` is
/// false) it is one wait, as its time is virtual and nobody presses keys.
void wait_for(bool live, timeout limit, code expired, const std::function<status(timeout)>& wait);

/// Submits by `submit`, which may be called again: without the GIL, again and again while a queue
/// is full, for the runtime's `submit_timeout_ms` altogether. Meanwhile Ctrl-C ends the call.
/// Raises what the submission ends with.
template <class F>
void submit_live(unsigned timeout_ms, F&& submit) {
  for (auto rest = timeout_ms;;) {
    const auto step = std::min(rest, 50U);
    const status outcome = without_gil([&] {
      const submit_patience impatient(step);
      return submit();
    });
    rest -= step;
    if (outcome.code() != code::queue_full || rest == 0) return check(outcome);
    if (PyErr_CheckSignals() != 0) throw py::error_already_set();
  }
}

/// Keeps the exception by which a simulation ends its clients while Python code unwinds.
void keep_run_end(std::exception_ptr end);

/// Throws what was kept on this thread, if anything.
void rethrow_run_end();

} // namespace troupe::python
