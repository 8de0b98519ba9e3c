#include <string>
#include <utility>

#include <acl/acl.h>
#include <pthread.h>

#include "api/acl/src/call.hpp"
#include "api/acl/src/objects.hpp"
#include "api/acl/src/report_queue.hpp"
#include "api/acl/src/session.hpp"

using namespace troupe;
using namespace troupe::acl;

namespace {

constexpr auto stream_not_subscribed = static_cast<code>(107015);
constexpr auto stream_subscribed_elsewhere = static_cast<code>(107011);
constexpr auto thread_not_subscribed = static_cast<code>(107012);

// A report that its stream waits for: raised when it was called, or when it never will be.
struct report {
  aclrtCallback function;
  void* user_data;
  signal done;

  report(aclrtCallback f, void* data, signal end)
      : function(f), user_data(data), done(std::move(end)) {}
  ~report() { done.raise(); }
  report(const report&) = delete;
  report& operator=(const report&) = delete;
};

// A subscription needs a current context only to say whose default stream is meant.
std::shared_ptr<stream_object> stream_of_reports(aclrtStream handle) {
  return handle != nullptr ? find_stream(handle) : find_stream_for_work(handle);
}

status launch(aclrtCallback fn, void* user_data, bool blocks, aclrtStream handle) {
  const auto object = find_stream_for_work(handle);
  std::shared_ptr<report_queue> queue;
  {
    const std::lock_guard lock(object->guard);
    queue = object->reports;
  }
  if (!queue) {
    return make_status(stream_not_subscribed,
                       "aclrtLaunchCallback: no thread is subscribed to the stream's reports");
  }
  auto made = std::make_shared<report>(fn, user_data, session::instance().home().create_signal());
  const auto done = made->done;
  auto posted = object->stream.callback("report", [queue, made = std::move(made)]() mutable {
    queue->post([kept = std::move(made)] { kept->function(kept->user_data); });
  });
  return posted.ok() && blocks ? object->stream.wait(done) : posted;
}

}  // namespace

aclError aclrtSubscribeReport(uint64_t threadId, aclrtStream stream) {
  return call([&]() -> status {
    const auto object = stream_of_reports(stream);
    const std::lock_guard lock(object->guard);
    if (object->reports) {
      return make_status(stream_subscribed_elsewhere,
                         "aclrtSubscribeReport: a thread is subscribed to the stream already");
    }
    object->reports = report_queue::subscribe(threadId);
    return {};
  });
}

aclError aclrtUnSubscribeReport(uint64_t threadId, aclrtStream stream) {
  return call([&]() -> status {
    const auto object = stream_of_reports(stream);
    const std::lock_guard lock(object->guard);
    if (!object->reports || object->reports != report_queue::of_thread(threadId)) {
      return make_status(thread_not_subscribed, "aclrtUnSubscribeReport: thread " +
                                                    std::to_string(threadId) +
                                                    " is not subscribed to the stream");
    }
    object->reports.reset();
    report_queue::unsubscribe(threadId);
    return {};
  });
}

aclError aclrtProcessReport(int32_t timeout) {
  return call([&]() -> status {
    if (timeout == 0 || timeout < -1) {
      return bad_argument("aclrtProcessReport: a limit of " + std::to_string(timeout) + " ms");
    }
    if (session::instance().played()) {
      return unsupported("aclrtProcessReport", "a wait that a simulated run does not know");
    }
    const auto queue = report_queue::of_thread(pthread_self());
    if (queue) return queue->process(timeout);
    return make_status(thread_not_subscribed,
                       "aclrtProcessReport: the calling thread is subscribed to no stream");
  });
}

aclError aclrtLaunchCallback(aclrtCallback fn, void* userData, aclrtCallbackBlockType blockType,
                             aclrtStream stream) {
  return call([&]() -> status {
    if (fn == nullptr) return bad_argument("aclrtLaunchCallback: fn is null");
    if (blockType != ACL_CALLBACK_NO_BLOCK && blockType != ACL_CALLBACK_BLOCK) {
      return bad_argument("aclrtLaunchCallback: a block type of " + std::to_string(blockType));
    }
    return launch(fn, userData, blockType == ACL_CALLBACK_BLOCK, stream);
  });
}

aclError aclrtLaunchHostFunc(aclrtStream stream, aclrtHostFunc func, void* args) {
  return call([&]() -> status {
    if (func == nullptr) return bad_argument("aclrtLaunchHostFunc: func is null");
    return stream_for_work(stream).callback("host function", [func, args] { func(args); });
  });
}
