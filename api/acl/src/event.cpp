#include <string>

#include <acl/acl.h>

#include "actors/context_record.hpp"
#include "actors/device_record.hpp"
#include "api/acl/src/call.hpp"
#include "api/acl/src/limits.hpp"
#include "api/acl/src/objects.hpp"

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
  const auto waited_for = look_event(event).event;  // others may destroy the handle meanwhile
  return waited_for.synchronize(timeout(limit_ms));
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
    return waiting.wait(mark.event, wait_limit());
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

aclError aclrtSynchronizeEvent(aclrtEvent event) {
  return call([&] { return synchronize("aclrtSynchronizeEvent", event, -1); });
}

aclError aclrtSynchronizeEventWithTimeout(aclrtEvent event, int32_t timeout) {
  return call([&] { return synchronize("aclrtSynchronizeEventWithTimeout", event, timeout); });
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
