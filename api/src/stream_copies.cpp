// Copies and fills in stream order that are more than one range to another.

#include "api/src/copy_forms.hpp"
#include "api/src/states.hpp"
#include "troupe/stream.hpp"

namespace troupe {
namespace {

template <class Request>
status submit_copy(const handles::stream_state& state, const Request& request) {
  auto& record = *state.record;
  const auto copy = prepare(*state.home, request, record.line().get());
  if (!copy) return refused(record, copy.error());
  if (copy.value().payload.bytes == 0) return {};
  if (auto s = check_direction(request.kind, copy.value().direction); !s.ok()) return s;
  return run_in_stream(record, copy.value(), request.site);
}

} // namespace

status stream::copy_2d(const copy_2d_request& request) {
  if (request.width == 0 || request.height == 0) return {};
  if (auto s = may_submit(state_, "stream::copy_2d"); !s.ok()) return s;
  return submit_copy(*state_, request);
}

status stream::copy_batch(const copy_batch_request& request) {
  if (!copies_anything(request)) return {};
  if (auto s = may_submit(state_, "stream::copy_batch"); !s.ok()) return s;
  return submit_copy(*state_, request);
}

status stream::convert_raw(const convert_request& request) {
  if (request.count == 0) return {};
  if (auto s = may_submit(state_, "stream::convert"); !s.ok()) return s;
  return submit_copy(*state_, request);
}

status stream::fill_2d(const fill_2d_request& request) {
  if (request.width == 0 || request.height == 0) return {};
  if (auto s = may_submit(state_, "stream::fill"); !s.ok()) return s;
  auto& record = *state_->record;
  const auto fill = prepare(record.context(), request, record.line().get());
  if (!fill) return refused(record, fill.error());
  return run_in_stream(record, fill.value(), request.site);
}

} // namespace troupe
