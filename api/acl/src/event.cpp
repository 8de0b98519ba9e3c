#include <string>

#include <acl/acl.h>

#include "actors/context_record.hpp"
#include "actors/device_record.hpp"
#include "actors/stream_record.hpp"
#include "actors/timeline.hpp"
#include "api/acl/src/call.hpp"
#include "api/acl/src/limits.hpp"
#include "api/acl/src/objects.hpp"
#include "api/src/states.hpp"

using namespace troupe;
using namespace troupe::acl;

namespace {

constexpr std::uint32_t known_flags =
    ACL_EVENT_SYNC | ACL_EVENT_CAPTURE_STREAM_PROGRESS | ACL_EVENT_TIME_LINE;

status create(const char* call, aclrtEvent* event, std::uint32_t flag, bool newer) {
  if (event == nullptr) return bad_argument(std::string(call) + ": event is null");
  if (flag == 0 || (flag & ~(known_flags | ACL_EVENT_EXTERNAL | ACL_EVENT_IPC)) != 0) {
    return bad_parameter(std::string(call) + ": flags of " + std::to_string(flag));
  }
  if ((flag & ~known_flags) != 0) return unsupported(call, "events of other processes");
  const auto whose = current_context();
  auto made = whose->context.create_event();
  if (!made) return made.error();
  auto object = std::make_shared<event_object>();
  object->event = std::move(made).value();
  object->newer = newer;
  object->device = whose->device;
  *event = new_handle(handle_kind::event, std::move(object));
  return {};
}

status synchronize(const char* call, aclrtEvent event, std::int32_t limit_ms) {
  if (event == nullptr) return bad_argument(std::string(call) + ": event is null");
  // As for streams, the thread keeps what it looked up until it looks up another.
  return look_event(event).event.synchronize(timeout(limit_ms));
}

// Notes that `waiting` has been told to wait for the event. Of each stream the last wait counts, as
// it ends last; waits that have ended need no place.
void note_wait(event_object& mark, const stream& waiting) {
  const auto& line = waiting.state()->record->line();
  const ticket now{line, line->submitted()};
  const std::lock_guard lock(mark.guard);
  std::erase_if(mark.awaited,
                [&](const ticket& each) { return each.line == line || each.ended(); });
  if (!now.ended()) mark.awaited.push_back(now);
}

result<bool> reached(const char* call, aclrtEvent event, const void* place) {
  if (event == nullptr || place == nullptr) {
    return bad_argument(std::string(call) + ": event or status is null");
  }
  return look_event(event).event.query();
}

}  // namespace

aclError aclrtCreateEvent(aclrtEvent* event) {
  return call([&] {
    return create("aclrtCreateEvent", event, ACL_EVENT_SYNC | ACL_EVENT_TIME_LINE, false);
  });
}

aclError aclrtCreateEventWithFlag(aclrtEvent* event, uint32_t flag) {
  return call([&] { return create("aclrtCreateEventWithFlag", event, flag, false); });
}

aclError aclrtCreateEventExWithFlag(aclrtEvent* event, uint32_t flag) {
  return call([&] { return create("aclrtCreateEventExWithFlag", event, flag, true); });
}

aclError aclrtDestroyEvent(aclrtEvent event) {
  return call([&]() -> status {
    if (event == nullptr) return bad_argument("aclrtDestroyEvent: event is null");
    auto& table = handle_table::instance();
    const auto ending = table.find(handle_kind::event, event);
    if (!ending) return invalid_handle("event");
    auto outcome = static_cast<event_object*>(ending.get())->event.destroy();
    // Also when it is gone already, with its context.
    const bool gone = outcome.ok() || outcome.code() == code::invalid_handle;
    if (gone) (void)table.remove(handle_kind::event, event);
    return outcome;
  });
}

aclError aclrtRecordEvent(aclrtEvent event, aclrtStream stream) {
  return call([&]() -> status {
    if (event == nullptr) return bad_argument("aclrtRecordEvent: event is null");
    auto& mark = look_event(event);
    auto outcome = stream_for_work(stream).record(mark.event);
    if (outcome.ok()) mark.recorded.store(true, std::memory_order_relaxed);
    return outcome;
  });
}

aclError aclrtStreamWaitEvent(aclrtStream stream, aclrtEvent event) {
  return call([&]() -> status {
    if (event == nullptr) return bad_argument("aclrtStreamWaitEvent: event is null");
    auto& mark = look_event(event);
    if (!mark.newer && !mark.recorded.load(std::memory_order_relaxed)) {
      return bad_parameter("aclrtStreamWaitEvent: the event was never recorded");
    }
    auto& waiting = stream_for_work(stream);
    if (mark.device != binding::detail::bound_record->device().index()) {
      return make_status(code::stream_context, "aclrtStreamWaitEvent: the event is of device " +
                                                   std::to_string(mark.device) +
                                                   ", not the current one");
    }
    auto outcome = waiting.wait(mark.event, wait_limit());
    if (outcome.ok()) note_wait(mark, waiting);
    return outcome;
  });
}

aclError aclrtResetEvent(aclrtEvent event, aclrtStream stream) {
  return call([&]() -> status {
    if (event == nullptr) return bad_argument("aclrtResetEvent: event is null");
    if (look_event(event).newer) {
      return unsupported("aclrtResetEvent", "events of the newer kind need no reset");
    }
    // A record has one meaning for ever and the next one a new one, so there is nothing to reset.
    (void)stream_for_work(stream);
    return {};
  });
}

aclError aclrtQueryEvent(aclrtEvent event, aclrtEventStatus* status) {
  return call([&]() -> troupe::status {
    const auto done = reached("aclrtQueryEvent", event, status);
    if (!done) return done.error();
    *status = done.value() ? ACL_EVENT_STATUS_COMPLETE : ACL_EVENT_STATUS_NOT_READY;
    return {};
  });
}

aclError aclrtQueryEventStatus(aclrtEvent event, aclrtEventRecordedStatus* status) {
  return call([&]() -> troupe::status {
    const auto done = reached("aclrtQueryEventStatus", event, status);
    if (!done) return done.error();
    *status =
        done.value() ? ACL_EVENT_RECORDED_STATUS_COMPLETE : ACL_EVENT_RECORDED_STATUS_NOT_READY;
    return {};
  });
}

// Whether every wait of a stream for the event, submitted so far, has ended.
aclError aclrtQueryEventWaitStatus(aclrtEvent event, aclrtEventWaitStatus* status) {
  return call([&]() -> troupe::status {
    if (event == nullptr || status == nullptr) {
      return bad_argument("aclrtQueryEventWaitStatus: event or status is null");
    }
    auto& mark = look_event(event);
    const std::lock_guard lock(mark.guard);
    *status = all_ended(mark.awaited) ? ACL_EVENT_WAIT_STATUS_COMPLETE
                                      : ACL_EVENT_WAIT_STATUS_NOT_READY;
    return {};
  });
}

aclError aclrtSynchronizeEvent(aclrtEvent event) {
  return call([&] { return synchronize("aclrtSynchronizeEvent", event, -1); });
}

aclError aclrtSynchronizeEventWithTimeout(aclrtEvent event, int32_t timeout) {
  return call([&] { return synchronize("aclrtSynchronizeEventWithTimeout", event, timeout); });
}

aclError aclrtEventGetTimestamp(aclrtEvent event, uint64_t* timestamp) {
  return call([&]() -> status {
    if (event == nullptr || timestamp == nullptr) {
      return bad_argument("aclrtEventGetTimestamp: event or timestamp is null");
    }
    const auto at = look_event(event).event.instant();
    if (!at) return at.error();
    *timestamp = static_cast<std::uint64_t>(at.value().count()) / 1000;
    return {};
  });
}

aclError aclrtEventElapsedTime(float* ms, aclrtEvent startEvent, aclrtEvent endEvent) {
  return call([&]() -> status {
    if (ms == nullptr || startEvent == nullptr || endEvent == nullptr) {
      return bad_argument("aclrtEventElapsedTime: an argument is null");
    }
    const auto start = look_event(startEvent).event;
    const auto elapsed = look_event(endEvent).event.elapsed_since(start);
    if (!elapsed) return elapsed.error();
    *ms = static_cast<float>(elapsed.value().count());
    return {};
  });
}
