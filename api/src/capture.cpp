#include "troupe/capture.hpp"

#include "actors/graphs/capture.hpp"
#include "api/src/binding.hpp"
#include "api/src/states.hpp"

namespace troupe::capturing {
namespace {

status may_capture(const stream& which, const char* call) {
  if (!which.state()) return make_status(code::invalid_handle, "the stream handle is empty");
  if (auto s = may_call(*which.state()->home, call); !s.ok()) return s;
  return binding::check(which.state()->record->context());
}

// The two enumerations have the same order.
static_assert(static_cast<int>(mode::relaxed) == static_cast<int>(capture_mode::relaxed));

} // namespace

status begin(const stream& origin, mode how) {
  if (auto s = may_capture(origin, "capturing::begin"); !s.ok()) return s;
  if (auto s = origin.state()->record->check_open(); !s.ok()) return s;
  return capture::begin(origin.state()->record, static_cast<capture_mode>(how));
}

result<graph> end(const stream& origin) {
  if (auto s = may_capture(origin, "capturing::end"); !s.ok()) return s;
  auto ended = capture::end(*origin.state()->record);
  if (!ended) return ended.error();
  auto taken = std::move(ended).value();
  return graph(std::move(taken.graph), taken.context);
}

result<info> look(const stream& which) {
  if (!which.state()) return make_status(code::invalid_handle, "the stream handle is empty");
  const auto seen = capture::look(*which.state()->record);
  return info{seen.status == capture_status::active, seen.status == capture_status::invalidated,
              seen.origin, seen.id, seen.nodes};
}

mode exchange_mode(mode how) noexcept {
  return static_cast<mode>(capture::exchange_mode(static_cast<capture_mode>(how)));
}

} // namespace troupe::capturing
