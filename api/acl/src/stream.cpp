#include <algorithm>
#include <string>

#include <acl/acl.h>

#include "api/acl/src/call.hpp"
#include "api/acl/src/kernel_limit.hpp"
#include "api/acl/src/objects.hpp"
#include "api/acl/src/overflow.hpp"

using namespace troupe;
using namespace troupe::acl;

namespace {

constexpr std::uint32_t known_flags = ACL_STREAM_FAST_LAUNCH | ACL_STREAM_FAST_SYNC;

status create(const char* call, aclrtStream* stream, const stream_options& options) {
  if (stream == nullptr) return bad_argument(std::string(call) + ": stream is null");
  const auto whose = current_context();
  auto made = whose->context.create_stream(options);
  if (!made) return made.error();
  auto object = std::make_shared<stream_object>();
  object->stream = std::move(made).value();
  object->overflowed = whose->overflowed;
  *stream = new_handle(handle_kind::stream, std::move(object));
  return {};
}

status destroy(const char* call, aclrtStream stream, bool force) {
  if (stream == nullptr) return bad_argument(std::string(call) + ": stream is null");
  need_context();
  auto ending = find_stream(stream)->stream;
  auto outcome = ending.destroy(force);
  // A failure of the stream's tasks is told, and the stream has ended all the same.
  if (ending.query().code() == code::invalid_handle) {
    (void)handle_table::instance().remove(handle_kind::stream, stream);
  }
  return outcome;
}

// Others may destroy the handle meanwhile: what this thread looked up lives until it looks up
// another, which it cannot while it waits.
status synchronize(aclrtStream stream, std::int32_t limit_ms) {
  const auto wait_for = [limit_ms](const troupe::stream& target) {
    auto outcome = target.synchronize(timeout(limit_ms));
    return outcome.ok() ? outcome : explain_interrupted(target, outcome);
  };
  if (stream != nullptr) return wait_for(look_stream(stream).stream);
  return wait_for(current_context()->default_stream->stream);
}

const troupe::stream& stream_to_look_at(aclrtStream handle) {
  return handle != nullptr ? look_stream(handle).stream : stream_for_work(nullptr);
}

status set_failure_mode(aclrtStream stream, std::uint64_t mode) {
  if (mode != ACL_CONTINUE_ON_FAILURE && mode != ACL_STOP_ON_FAILURE) {
    return bad_parameter("a failure mode of " + std::to_string(mode) + ", not 0 or 1");
  }
  return stream_for_work(stream).set_failure_mode(
      mode == ACL_STOP_ON_FAILURE ? failure_mode::stop : failure_mode::go_on);
}

}  // namespace

aclError aclrtCreateStream(aclrtStream* stream) {
  return call([&] { return create("aclrtCreateStream", stream, {}); });
}

// Priorities beyond the least are the least, as documented for the interface.
aclError aclrtCreateStreamWithConfig(aclrtStream* stream, uint32_t priority, uint32_t flag) {
  return call([&]() -> status {
    if ((flag & ~known_flags) != 0) {
      return unsupported("aclrtCreateStreamWithConfig", "flags " + std::to_string(flag));
    }
    return create("aclrtCreateStreamWithConfig", stream, {std::min(priority, 7U), 0});
  });
}

aclError aclrtDestroyStream(aclrtStream stream) {
  return call([&] { return destroy("aclrtDestroyStream", stream, false); });
}

aclError aclrtDestroyStreamForce(aclrtStream stream) {
  return call([&] { return destroy("aclrtDestroyStreamForce", stream, true); });
}

aclError aclrtSynchronizeStream(aclrtStream stream) {
  return call([&] { return synchronize(stream, -1); });
}

aclError aclrtSynchronizeStreamWithTimeout(aclrtStream stream, int32_t timeout) {
  return call([&] { return synchronize(stream, timeout); });
}

aclError aclrtStreamQuery(aclrtStream stream, aclrtStreamStatus* status) {
  return call([&]() -> troupe::status {
    if (status == nullptr) return bad_argument("aclrtStreamQuery: status is null");
    const auto idle = stream_to_look_at(stream).query();
    if (!idle) return idle.error();
    *status = idle.value() ? ACL_STREAM_STATUS_COMPLETE : ACL_STREAM_STATUS_NOT_READY;
    return {};
  });
}

aclError aclrtStreamAbort(aclrtStream stream) {
  return call([&]() -> status {
    if (stream == nullptr) return bad_argument("aclrtStreamAbort: stream is null");
    return find_stream(stream)->stream.abort();
  });
}

aclError aclrtStreamGetId(aclrtStream stream, int32_t* streamId) {
  return call([&]() -> status {
    if (streamId == nullptr) return bad_argument("aclrtStreamGetId: streamId is null");
    *streamId = static_cast<std::int32_t>(stream_to_look_at(stream).id());
    return {};
  });
}

aclError aclrtSetStreamFailureMode(aclrtStream stream, uint64_t mode) {
  return call([&] { return set_failure_mode(stream, mode); });
}

// Code 107000 makes programs do without the attribute.
aclError aclrtSetStreamAttribute(aclrtStream stream, aclrtStreamAttr stmAttrType,
                                 aclrtStreamAttrValue* value) {
  return call([&]() -> status {
    if (value == nullptr) return bad_argument("aclrtSetStreamAttribute: value is null");
    switch (stmAttrType) {
      case ACL_STREAM_ATTR_FAILURE_MODE:
        return set_failure_mode(stream, value->failureMode);
      case ACL_STREAM_ATTR_FLOAT_OVERFLOW_CHECK:
        return set_overflow_watch(stream, value->overflowSwitch);
      default:
        return bad_parameter("aclrtSetStreamAttribute: there is no attribute of number " +
                             std::to_string(stmAttrType));
    }
  });
}
