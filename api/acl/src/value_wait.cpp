// Values in device memory that streams write and wait for. A wait is a look at the value in stream
// order, and where that does not do, a signal that the write raises which makes it do.

#include <atomic>
#include <bit>
#include <cstdint>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include <acl/acl.h>

#include "actors/timeline.hpp"
#include "api/acl/src/call.hpp"
#include "api/acl/src/for_good.hpp"
#include "api/acl/src/limits.hpp"
#include "api/acl/src/memory_place.hpp"
#include "api/acl/src/objects.hpp"
#include "api/acl/src/session.hpp"
#include "core/device_span.hpp"
#include "troupe/capture.hpp"

using namespace troupe;
using namespace troupe::acl;

namespace {

using value_span = std::span<std::uint64_t>;

struct condition {
  std::uint64_t value;
  std::uint32_t how;

  [[nodiscard]] bool holds_for(std::uint64_t seen) const noexcept {
    switch (how) {
      case ACL_STREAM_WAIT_VALUE_GEQ: return seen >= value;
      case ACL_STREAM_WAIT_VALUE_EQ: return seen == value;
      case ACL_STREAM_WAIT_VALUE_AND: return (seen & value) != 0;
      default: return ~(seen | value) != 0;
    }
  }
};

// Who waits for which value to change. A look and a write are each one step, so that no write falls
// between a look that says no and the place in this list.
class waiting_list {
 public:
  void write(std::uint64_t& at, std::uint64_t value) {
    std::vector<signal> released;
    {
      const std::lock_guard lock(guard_);
      std::atomic_ref(at).store(value, std::memory_order_release);
      std::erase_if(all_, [&](const waiter& each) {
        const bool over = each.at == &at && each.until.holds_for(value);
        if (over) released.push_back(each.next);
        return over || is_forgotten(each);
      });
    }
    for (const auto& each : released) each.raise();
  }

  void look(const std::uint64_t& at, const condition& until, const signal& next) {
    {
      const std::lock_guard lock(guard_);
      const auto seen =
          std::atomic_ref(const_cast<std::uint64_t&>(at)).load(std::memory_order_acquire);
      if (!until.holds_for(seen)) {
        std::erase_if(all_, is_forgotten);
        all_.push_back({&at, until, next});
        return;
      }
    }
    next.raise();
  }

  static waiting_list& instance() {
    return for_good<waiting_list>();
  }

 private:
  struct waiter {
    const std::uint64_t* at;
    condition until;
    signal next;
  };

  // The wait was dropped: nobody else knows the signal.
  static bool is_forgotten(const waiter& each) { return each.next.line().use_count() == 1; }

  std::mutex guard_;
  std::vector<waiter> all_;
};

result<device_span<std::uint64_t>> place_of(const char* call, void* address) {
  if (address == nullptr) return bad_argument(std::string(call) + ": devAddr is null");
  if (std::bit_cast<std::uint64_t>(address) % sizeof(std::uint64_t) != 0) {
    return bad_parameter(std::string(call) + ": devAddr is no multiple of 8");
  }
  const auto found = find_memory(address, sizeof(std::uint64_t));
  if (!found) return found.error();
  if (!found.value().on_device()) {
    return bad_parameter(std::string(call) + ": devAddr is in no device's memory");
  }
  return device_span<std::uint64_t>(static_cast<std::uint64_t*>(address), 1,
                                    found.value().context);
}

}  // namespace

aclError aclrtValueWrite(void* devAddr, uint64_t value, uint32_t flag, aclrtStream stream) {
  return call([&]() -> status {
    if (flag != 0) return bad_parameter("aclrtValueWrite: flags are reserved, 0");
    const auto place = place_of("aclrtValueWrite", devAddr);
    if (!place) return place.error();
    return stream_for_work(stream).launch(
        "value write",
        [value](value_span at) { waiting_list::instance().write(at[0], value); }, place.value());
  });
}

aclError aclrtValueWait(void* devAddr, uint64_t value, uint32_t flag, aclrtStream stream) {
  return call([&]() -> status {
    if (flag > ACL_STREAM_WAIT_VALUE_NOR) {
      return bad_parameter("aclrtValueWait: a condition of " + std::to_string(flag));
    }
    const auto place = place_of("aclrtValueWait", devAddr);
    if (!place) return place.error();
    auto& line = stream_for_work(stream);
    const auto captured = capturing::look(line);
    if (!captured) return captured.error();
    if (captured.value().id != 0) return unsupported("aclrtValueWait", "in a capture");
    const auto next = session::instance().home().create_signal();
    const device_span<const std::uint64_t> read = place.value();
    auto looked = line.launch(
        "value wait",
        [until = condition{value, flag}, next](std::span<const std::uint64_t> at) {
          waiting_list::instance().look(at[0], until, next);
        },
        read);
    return looked.ok() ? line.wait(next, wait_limit()) : looked;
  });
}
