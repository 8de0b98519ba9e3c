#include "api/acl/src/memory_place.hpp"

#include "actors/device_record.hpp"
#include "actors/memory_record.hpp"
#include "api/acl/src/session.hpp"
#include "api/src/runtime_maker.hpp"

namespace troupe::acl {

result<memory_place> find_memory(const void* address, std::size_t bytes) {
  const auto found =
      runtime_maker::home_of(session::instance().home()).locate(address);
  memory_place made;
  made.what = found.what;
  if (found.memory == nullptr) return made;
  const auto owner =
      found.memory->owner_of(address, bytes, nullptr, memory_record::side::target);
  if (!owner) return owner.error();
  if (found.device != nullptr) {
    made.device = found.device->index();
    made.context = owner.value();
  }
  return made;
}

}  // namespace troupe::acl
