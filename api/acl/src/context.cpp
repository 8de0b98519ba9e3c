#include <acl/acl.h>

#include "api/acl/src/call.hpp"
#include "api/acl/src/objects.hpp"
#include "api/acl/src/session.hpp"

using namespace troupe;
using namespace troupe::acl;

aclError aclrtCreateContext(aclrtContext* context, int32_t deviceId) {
  return call([&]() -> status {
    if (context == nullptr) return bad_argument("aclrtCreateContext: context is null");
    auto device = session::instance().home().device(deviceId);
    if (!device) return device.error();
    auto made = device.value().create_context();
    if (!made) return made.error();
    auto object = make_context_object(std::move(made).value());
    auto* const handle = new_handle(handle_kind::context, object);
    set_current(std::move(object), handle);
    *context = handle;
    return {};
  });
}

aclError aclrtDestroyContext(aclrtContext context) {
  return call([&]() -> status {
    if (context == nullptr) return bad_argument("aclrtDestroyContext: context is null");
    auto& table = handle_table::instance();
    const auto found =
        std::static_pointer_cast<context_object>(table.find(handle_kind::context, context));
    if (!found) return invalid_handle("context");
    if (auto s = found->context.destroy(); !s.ok()) return s;
    (void)table.remove(handle_kind::context, context);
    if (current_handle() == context) set_current(nullptr, nullptr);
    return {};
  });
}

aclError aclrtSetCurrentContext(aclrtContext context) {
  return call([&]() -> status {
    if (context == nullptr) return bad_argument("aclrtSetCurrentContext: context is null");
    auto found = handle_table::instance().find(handle_kind::context, context);
    if (!found) return invalid_handle("context");
    set_current(std::static_pointer_cast<context_object>(std::move(found)), context);
    return {};
  });
}

aclError aclrtGetCurrentContext(aclrtContext* context) {
  return call([&]() -> status {
    if (context == nullptr) return bad_argument("aclrtGetCurrentContext: context is null");
    *context = nullptr;  // what programs test, whatever the code
    (void)current_context();
    *context = current_handle();
    return {};
  });
}
