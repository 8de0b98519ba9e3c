#include "api/acl/src/limits.hpp"

#include <atomic>

#include <acl/acl.h>

#include "api/acl/src/call.hpp"

using namespace troupe;
using namespace troupe::acl;

namespace {

constinit std::atomic<std::uint32_t> wait_limit_s = 0;  // 0: for ever

}  // namespace

timeout troupe::acl::wait_limit() noexcept {
  const auto seconds = wait_limit_s.load(std::memory_order_relaxed);
  return seconds == 0 ? forever : timeout(std::int64_t{1000} * seconds);
}

aclError aclrtSetOpWaitTimeout(uint32_t timeout) {
  return call([&]() -> status {
    wait_limit_s.store(timeout, std::memory_order_relaxed);
    return {};
  });
}
