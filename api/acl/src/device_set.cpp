#include "api/acl/src/device_set.hpp"

#include <utility>

#include "api/acl/src/for_good.hpp"
#include "api/acl/src/session.hpp"
#include "troupe/current.hpp"

namespace troupe::acl {

device_set& device_set::instance() {
  return for_good<device_set>();
}

status device_set::set(std::int32_t device) {
  auto& home = session::instance().home();
  if (auto s = home.set_device(device); !s.ok()) return s;
  auto bound = current::context();
  if (!bound) return bound.error();
  primary chosen;
  {
    const std::lock_guard lock(guard_);
    auto& known = primaries_[device];
    if (!known.object || known.object->context.state() != bound.value().state()) {
      (void)handle_table::instance().remove(handle_kind::context, known.handle);
      known.object = make_context_object(bound.value());
      known.handle = new_handle(handle_kind::context, known.object);
    }
    chosen = known;
  }
  set_current(chosen.object, chosen.handle);
  return {};
}

status device_set::reset(std::int32_t device, bool force) {
  auto outcome = session::instance().home().reset_device(device, force);
  const std::lock_guard lock(guard_);
  const auto known = primaries_.find(device);
  if (known != primaries_.end() &&
      known->second.object->context.health().code() == code::context_released) {
    (void)handle_table::instance().remove(handle_kind::context, known->second.handle);
    primaries_.erase(known);
  }
  return outcome;
}

device_set::primaries device_set::exchange(primaries other) {
  const std::lock_guard lock(guard_);
  return std::exchange(primaries_, std::move(other));
}

bool device_set::active(std::int32_t device) const {
  const std::lock_guard lock(guard_);
  const auto known = primaries_.find(device);
  return known != primaries_.end() && known->second.object->context.health().ok();
}

}  // namespace troupe::acl
