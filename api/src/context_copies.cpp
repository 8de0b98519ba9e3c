// Copies and fills by the calling thread that are more than one range to another.

#include "actors/graphs/capture.hpp"
#include "api/src/copy_forms.hpp"
#include "api/src/states.hpp"
#include "troupe/context.hpp"

namespace troupe {
namespace {

status may_run(const std::shared_ptr<handles::context_state>& state, const char* call) {
  auto s = may_use(state, call);
  return s.ok() ? capture::refuse_unsafe(call) : s;
}

// Of a context that was just destroyed the memory is gone as well: the first cause counts.
status run(const handles::context_state& state, const result<prepared_copy>& copy) {
  auto outcome = copy ? status{} : copy.error();
  if (copy && copy.value().payload.bytes > 0) {
    outcome = run_here(*state.home, state.record->id(), copy.value());
  }
  return !outcome.ok() && state.record->destroyed() ? state.record->check_usable() : outcome;
}

} // namespace

status context::copy_2d(const copy_2d_request& request) const {
  if (request.width == 0 || request.height == 0) return {};
  if (auto s = may_run(state_, "context::copy_2d"); !s.ok()) return s;
  return run(*state_, prepare(*state_->home, request));
}

status context::copy_batch(const copy_batch_request& request) const {
  if (!copies_anything(request)) return {};
  if (auto s = may_run(state_, "context::copy_batch"); !s.ok()) return s;
  return run(*state_, prepare(*state_->home, request));
}

status context::convert_raw(const convert_request& request) const {
  if (request.count == 0) return {};
  if (auto s = may_run(state_, "context::convert"); !s.ok()) return s;
  return run(*state_, prepare(*state_->home, request));
}

status context::fill_2d(const fill_2d_request& request) const {
  if (request.width == 0 || request.height == 0) return {};
  if (auto s = may_run(state_, "context::fill"); !s.ok()) return s;
  return run(*state_, prepare(*state_->record, request));
}

} // namespace troupe
