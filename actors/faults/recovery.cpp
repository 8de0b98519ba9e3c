#include "actors/faults/recovery.hpp"

#include "actors/context_actor.hpp"
#include "actors/context_record.hpp"
#include "actors/device_record.hpp"
#include "actors/faults/fault_gate.hpp"
#include "actors/machine.hpp"
#include "actors/scheduling/spawn.hpp"
#include "actors/stream_actor.hpp"

namespace troupe {
namespace {

bool recover_stream(stream_record& stream, time_ns now) {
  bool found = false;
  if (auto* port = stream.port.load(std::memory_order_acquire)) found |= port->recover(stream);
  if (const auto number = stream.withheld(); number != 0) {
    stream.publish_withheld(number);
    found = true;
  }
  found |= stream.line()->tell_again();
  if (const auto number = stream.overdue_wait(now); number != 0) {
    stream.expire_wait(number);
    found = true;
  }
  if (stream.abort_is_overdue(now)) {
    post(stream.actor, abort_overdue{stream.line()->aborted()});
    found = true;
  }
  const auto& line = *stream.line();
  const bool by_force = stream.context().destroyed();
  const bool not_forced = by_force && !line.idle() && line.aborted() < line.submitted();
  if (((by_force || stream.orphaned()) && !stream.closed()) || not_forced) {
    post(stream.actor, close_stream{by_force, no_reply<status>()});
    found = true;
  }
  if (stream.closed() && line.idle()) {
    post(stream.actor, stream_drained{}); // it would have left the stage
    found = true;
  }
  return found;
}

} // namespace

bool recover_losses(machine& home) {
  const auto now = home.time().now();
  bool found = false;
  for (std::uint32_t i = 0; i < home.device_count(); ++i) {
    if (!home.is_open(i)) continue;
    auto& device = home.device_at(i);
    if (auto* gate = home.gate()) found |= gate->at_heartbeat(device).has_value();
    for (const auto& context : device.contexts()) {
      const bool to_end = context->orphaned() || home.stopping();
      if (to_end && !context->destroyed()) {
        post(context->actor, destroy_context{no_reply<status>()});
        found = true;
      }
      for (const auto& stream : context->streams()) found |= recover_stream(*stream, now);
    }
    for (std::size_t kind = 0; kind < engine_kind_count; ++kind) {
      found |= device.port(static_cast<engine_kind>(kind)).ring_again(now);
    }
  }
  return found;
}

} // namespace troupe
