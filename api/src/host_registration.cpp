// Host memory of the program's own that the runtime is told of.

#include <string>

#include "api/src/states.hpp"
#include "troupe/runtime.hpp"

namespace troupe {
namespace {

status moved_from() {
  return make_status(code::uninitialized, "the runtime object is empty: it was moved from");
}

} // namespace

status runtime::register_host(void* address, std::size_t bytes) const {
  if (!home_) return moved_from();
  if (auto s = may_call(*home_, "runtime::register_host"); !s.ok()) return s;
  if (address == nullptr || bytes == 0) {
    return make_status(code::bad_argument, "null or no bytes are registered as host memory");
  }
  // Memory of this runtime lies in few ranges that nothing else is in: its ends tell.
  const auto* const last = static_cast<std::byte*>(address) + (bytes - 1);
  for (const void* end : {static_cast<const void*>(address), static_cast<const void*>(last)}) {
    const auto place = home_->locate(end);
    if (place.memory == nullptr && place.what != machine::place::kind::device) continue;
    return make_status(code::invalid_parameter,
                       "some of the " + std::to_string(bytes) +
                           " bytes to register is memory of the runtime already");
  }
  return home_->registrations().add(address, bytes);
}

status runtime::unregister_host(void* address) const {
  if (!home_) return moved_from();
  if (auto s = may_call(*home_, "runtime::unregister_host"); !s.ok()) return s;
  return home_->registrations().remove(address);
}

} // namespace troupe
