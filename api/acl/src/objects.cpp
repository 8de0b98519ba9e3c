#include "api/acl/src/objects.hpp"

#include <utility>

#include "api/acl/src/reservations.hpp"

namespace troupe::acl {
namespace {

// The object and handle that the thread's binding goes by.
struct current_entry {
  std::shared_ptr<context_object> object;
  void* handle = nullptr;
};
thread_local current_entry mine;

std::shared_ptr<stream_object> default_stream_of(const context_object& whose) {
  auto made = std::make_shared<stream_object>();
  made->stream = whose.context.default_stream().value();
  made->overflowed = whose.overflowed;
  return made;
}

}  // namespace

context_object::context_object(troupe::context made, std::uint32_t index)
    : context(std::move(made)), device(index), default_stream(default_stream_of(*this)) {}

std::shared_ptr<context_object> make_context_object(troupe::context made) {
  const auto device = made.device_index();
  auto object = std::make_shared<context_object>(std::move(made), device);
  reservations::instance().welcome(object);
  return object;
}

void* new_handle(handle_kind kind, std::shared_ptr<void> made) {
  auto* const handle = handle_table::instance().add(kind, std::move(made));
  if (handle == nullptr) {
    throw error(code::resource_shortage, "1048576 handles are in use, which is the limit");
  }
  return handle;
}

status invalid_handle(const char* kind) {
  return make_status(code::invalid_handle, std::string("the handle is no ") + kind +
                                               "'s: destroyed, of another kind, or never made");
}

stream_object& look_stream(void* handle) {
  auto* const found = handle_table::instance().look(handle_kind::stream, handle);
  if (found == nullptr) throw error(invalid_handle("stream"));
  return *static_cast<stream_object*>(found);
}

std::shared_ptr<stream_object> find_stream(void* handle) {
  auto found = handle_table::instance().find(handle_kind::stream, handle);
  if (!found) throw error(invalid_handle("stream"));
  return std::static_pointer_cast<stream_object>(std::move(found));
}

std::shared_ptr<stream_object> find_stream_for_work(void* handle) {
  need_context();
  return handle != nullptr ? find_stream(handle) : current_context()->default_stream;
}

event_object& look_event(void* handle) {
  auto* const found = handle_table::instance().look(handle_kind::event, handle);
  if (found == nullptr) throw error(invalid_handle("event"));
  return *static_cast<event_object*>(found);
}

void need_context() {
  if (binding::detail::bound_record == nullptr) (void)binding::get().value();
}

std::shared_ptr<context_object> current_context() {
  (void)binding::get().value();
  return mine.object;
}

stream_object& stream_object_for_work(void* handle) {
  if (binding::detail::bound_record == nullptr) [[unlikely]]
    need_context();
  if (handle != nullptr) return look_stream(handle);
  (void)binding::get().value();
  return *mine.object->default_stream;
}

void set_current(std::shared_ptr<context_object> object, void* handle) {
  if (object) {
    object->context.bind().or_throw();
  } else {
    binding::set(nullptr);
  }
  mine = {std::move(object), handle};
}

void* current_handle() noexcept {
  return mine.handle;
}

}  // namespace troupe::acl
