#include <map>
#include <mutex>

#include <acl/acl_rt_allocator.h>

#include "api/acl/src/call.hpp"
#include "api/acl/src/for_good.hpp"
#include "api/acl/src/objects.hpp"

using namespace troupe;
using namespace troupe::acl;

namespace {

// What a program says of its own allocator. One thread at a time.
struct description {
  aclrtAllocator object = nullptr;
  aclrtAllocatorAllocFunc allocate = nullptr;
  aclrtAllocatorFreeFunc free = nullptr;
  aclrtAllocatorAllocAdviseFunc allocate_at = nullptr;
  aclrtAllocatorGetAddrFromBlockFunc address_of = nullptr;
};

// Allocators by the id of the stream they serve. This library takes no memory on its own on behalf
// of a stream, so a registered allocator is known and never asked.
struct registry {
  std::mutex guard;
  std::map<std::uint64_t, description> by_stream;
};

registry& registered() {
  return for_good<registry>();
}

std::shared_ptr<description> find_description(aclrtAllocatorDesc handle) {
  auto found = handle_table::instance().find(handle_kind::allocator, handle);
  if (!found) throw error(invalid_handle("allocator description"));
  return std::static_pointer_cast<description>(std::move(found));
}

template <class Field, class Value>
aclError set(aclrtAllocatorDesc handle, Field field, Value value) {
  return call([&]() -> status {
    if (handle == nullptr || value == nullptr) {
      return bad_argument("aclrtAllocatorSet...: an argument is null");
    }
    (*find_description(handle)).*field = value;
    return {};
  });
}

}  // namespace

aclrtAllocatorDesc aclrtAllocatorCreateDesc() {
  return call_for(aclrtAllocatorDesc{}, [] {
    return new_handle(handle_kind::allocator, std::make_shared<description>());
  });
}

aclError aclrtAllocatorDestroyDesc(aclrtAllocatorDesc allocatorDesc) {
  return call([&]() -> status {
    if (allocatorDesc == nullptr) return bad_argument("aclrtAllocatorDestroyDesc: null");
    const auto gone = handle_table::instance().remove(handle_kind::allocator, allocatorDesc);
    return gone ? status{} : invalid_handle("allocator description");
  });
}

aclError aclrtAllocatorSetObjToDesc(aclrtAllocatorDesc allocatorDesc, aclrtAllocator allocator) {
  return set(allocatorDesc, &description::object, allocator);
}

aclError aclrtAllocatorSetAllocFuncToDesc(aclrtAllocatorDesc allocatorDesc,
                                          aclrtAllocatorAllocFunc func) {
  return set(allocatorDesc, &description::allocate, func);
}

aclError aclrtAllocatorSetFreeFuncToDesc(aclrtAllocatorDesc allocatorDesc,
                                         aclrtAllocatorFreeFunc func) {
  return set(allocatorDesc, &description::free, func);
}

aclError aclrtAllocatorSetAllocAdviseFuncToDesc(aclrtAllocatorDesc allocatorDesc,
                                                aclrtAllocatorAllocAdviseFunc func) {
  return set(allocatorDesc, &description::allocate_at, func);
}

aclError aclrtAllocatorSetGetAddrFromBlockFuncToDesc(aclrtAllocatorDesc allocatorDesc,
                                                     aclrtAllocatorGetAddrFromBlockFunc func) {
  return set(allocatorDesc, &description::address_of, func);
}

aclError aclrtAllocatorRegister(aclrtStream stream, aclrtAllocatorDesc allocatorDesc) {
  return call([&]() -> status {
    if (allocatorDesc == nullptr) return bad_argument("aclrtAllocatorRegister: null");
    const auto made = find_description(allocatorDesc);
    if (made->object == nullptr || made->allocate == nullptr || made->free == nullptr ||
        made->address_of == nullptr) {
      return bad_argument("aclrtAllocatorRegister: the description lacks its object or a function");
    }
    const auto id = stream_for_work(stream).id();
    auto& all = registered();
    const std::lock_guard lock(all.guard);
    all.by_stream[id] = *made;
    return {};
  });
}

aclError aclrtAllocatorUnregister(aclrtStream stream) {
  return call([&]() -> status {
    const auto id = stream_for_work(stream).id();
    auto& all = registered();
    const std::lock_guard lock(all.guard);
    if (all.by_stream.erase(id) == 1) return {};
    return bad_argument("aclrtAllocatorUnregister: no allocator is registered for the stream");
  });
}
