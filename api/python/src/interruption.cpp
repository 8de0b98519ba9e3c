#include "api/python/src/interruption.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <string>

#include "api/python/src/arguments.hpp"

namespace troupe::python {
namespace {

constexpr timeout slice{50};
constexpr double seconds_max = 1e9;

thread_local std::exception_ptr run_end;

} // namespace

timeout to_timeout(const py::object& given, const char* name) {
  if (given.is_none()) return forever;
  const auto seconds = to_number(given, name);
  if (!(seconds > 0) || seconds > seconds_max) {
    refuse(std::string(name) + " is " + shown(given) +
           "; it must be above 0 and at most 1e9 seconds, or None");
  }
  return timeout(std::max<std::int64_t>(1, std::llround(seconds * 1000)));
}

void wait_for(bool live, timeout limit, code expired, const std::function<status(timeout)>& wait) {
  bury_objects();
  if (!live) return check(without_gil([&] { return wait(limit); }));
  auto rest = limit;
  for (;;) {
    const auto step = limit == forever ? slice : std::min(slice, rest);
    const auto outcome = without_gil([&] { return wait(step); });
    if (outcome.code() != expired) return check(outcome);
    if (PyErr_CheckSignals() != 0) throw py::error_already_set();
    if (limit == forever) continue;
    rest -= step;
    if (rest <= timeout::zero()) return check(outcome);
  }
}

void keep_run_end(std::exception_ptr end) { run_end = std::move(end); }

void rethrow_run_end() {
  if (auto end = std::exchange(run_end, nullptr)) std::rethrow_exception(end);
}

} // namespace troupe::python
