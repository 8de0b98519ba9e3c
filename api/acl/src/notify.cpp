// Notifies: one stream sets a mark, another waits for it and takes it away. Which record serves
// which wait is found in the order in which the streams get there, so a wait may be submitted first.

#include <atomic>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include <acl/acl.h>

#include "actors/timeline.hpp"
#include "api/acl/src/call.hpp"
#include "api/acl/src/objects.hpp"
#include "api/acl/src/session.hpp"
#include "troupe/capture.hpp"
#include "troupe/duration.hpp"

using namespace troupe;
using namespace troupe::acl;

namespace {

// What a notify's handle stands for: a mark, or those who wait for one.
class notify_object {
 public:
  // A stream has come to a record.
  void record() {
    signal next;
    {
      const std::lock_guard lock(guard_);
      while (!waiting_.empty() && is_forgotten(waiting_.front())) waiting_.pop_front();
      if (waiting_.empty()) {
        marked_ = true;
        return;
      }
      next = std::move(waiting_.front());
      waiting_.pop_front();
    }
    next.raise();
  }

  // A stream has come to a wait, and goes on with `next`.
  void await(const signal& next) {
    {
      const std::lock_guard lock(guard_);
      if (!std::exchange(marked_, false)) {
        std::erase_if(waiting_, is_forgotten);
        waiting_.push_back(next);
        return;
      }
    }
    next.raise();
  }

  void reset() {
    const std::lock_guard lock(guard_);
    marked_ = false;
  }

  [[nodiscard]] std::uint32_t id() const noexcept { return id_; }

 private:
  // The wait was dropped or has expired: nobody else knows the signal.
  static bool is_forgotten(const signal& each) { return each.line().use_count() == 1; }

  static inline std::atomic<std::uint32_t> last_id = 0;

  const std::uint32_t id_ = ++last_id;
  std::mutex guard_;
  bool marked_ = false;
  std::deque<signal> waiting_;
};

std::shared_ptr<notify_object> find_notify(const char* call, void* handle) {
  if (handle == nullptr) throw error(bad_argument(std::string(call) + ": notify is null"));
  auto found = handle_table::instance().find(handle_kind::notify, handle);
  if (!found) throw error(invalid_handle("notify"));
  return std::static_pointer_cast<notify_object>(std::move(found));
}

timeout limit_of(std::uint32_t seconds) {
  return seconds == 0 ? forever : timeout(std::int64_t{1000} * seconds);
}

}  // namespace

aclError aclrtCreateNotify(aclrtNotify* notify, uint64_t flag) {
  return call([&]() -> status {
    if (notify == nullptr) return bad_argument("aclrtCreateNotify: notify is null");
    if (flag > ACL_NOTIFY_DEVICE_USE_ONLY) {
      return bad_parameter("aclrtCreateNotify: flags of " + std::to_string(flag));
    }
    need_context();
    *notify = new_handle(handle_kind::notify, std::make_shared<notify_object>());
    return {};
  });
}

// Streams that wait for it go on waiting, up to their limits.
aclError aclrtDestroyNotify(aclrtNotify notify) {
  return call([&]() -> status {
    if (notify == nullptr) return bad_argument("aclrtDestroyNotify: notify is null");
    const auto gone = handle_table::instance().remove(handle_kind::notify, notify);
    return gone ? status{} : invalid_handle("notify");
  });
}

aclError aclrtRecordNotify(aclrtNotify notify, aclrtStream stream) {
  return call([&] {
    const auto mark = find_notify("aclrtRecordNotify", notify);
    return stream_for_work(stream).launch("notify record", [mark] { mark->record(); });
  });
}

aclError aclrtWaitAndResetNotify(aclrtNotify notify, aclrtStream stream, uint32_t timeout) {
  return call([&]() -> status {
    const auto mark = find_notify("aclrtWaitAndResetNotify", notify);
    auto& line = stream_for_work(stream);
    const auto captured = capturing::look(line);
    if (!captured) return captured.error();
    if (captured.value().id != 0) return unsupported("aclrtWaitAndResetNotify", "in a capture");
    const auto next = session::instance().home().create_signal();
    auto looked = line.launch("notify wait", [mark, next] { mark->await(next); });
    return looked.ok() ? line.wait(next, limit_of(timeout)) : looked;
  });
}

aclError aclrtGetNotifyId(aclrtNotify notify, uint32_t* notifyId) {
  return call([&]() -> status {
    const auto mark = find_notify("aclrtGetNotifyId", notify);
    if (notifyId == nullptr) return bad_argument("aclrtGetNotifyId: notifyId is null");
    *notifyId = mark->id();
    return {};
  });
}

aclError aclrtNotifyBatchReset(aclrtNotify* notifies, size_t num) {
  return call([&]() -> status {
    if (notifies == nullptr || num == 0) {
      return bad_argument("aclrtNotifyBatchReset: notifies is null, or there are none");
    }
    std::vector<std::shared_ptr<notify_object>> all;
    for (std::size_t i = 0; i < num; ++i) {
      all.push_back(find_notify("aclrtNotifyBatchReset", notifies[i]));
    }
    for (const auto& each : all) each->reset();
    return {};
  });
}
