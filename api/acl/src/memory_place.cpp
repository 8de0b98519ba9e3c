#include "api/acl/src/memory_place.hpp"

#include "actors/context_record.hpp"
#include "actors/device_record.hpp"
#include "actors/memory_record.hpp"
#include "actors/use_table.hpp"
#include "api/acl/src/session.hpp"
#include "api/src/binding.hpp"
#include "api/src/runtime_maker.hpp"

namespace troupe::acl {

result<memory_place> find_memory(const void* address, std::size_t bytes) {
  const auto& home = runtime_maker::home_of(session::instance().home());
  const auto found = home.locate(address);
  memory_place made;
  made.what = found.what;
  if (found.device != nullptr) made.device = found.device->index();
  if (found.memory == nullptr) {
    if (made.pinned() && !home.uses().is_host(address, bytes)) {
      return make_status(code::invalid_parameter, std::to_string(bytes) +
                                                      " bytes leave the registered host memory "
                                                      "that they begin in");
    }
    // What is mapped is of whoever may use it: the runtime looks when the work begins.
    if (made.on_device() && binding::detail::bound_record != nullptr) {
      made.context = binding::detail::bound_record->id();
    }
    return made;
  }
  const auto owner =
      found.memory->owner_of(address, bytes, nullptr, memory_record::side::target);
  if (!owner) return owner.error();
  if (made.on_device()) made.context = owner.value();
  return made;
}

}  // namespace troupe::acl
