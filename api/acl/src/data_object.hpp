#pragma once

#include <memory>

#include <acl/acl_base.h>

#include "api/acl/src/call.hpp"
#include "api/acl/src/objects.hpp"

namespace troupe::acl {

/// Data buffers, datasets and descriptions of tensors: to programs they are pointers to something
/// opaque, and what they hold are handles as for everything else.
template <class T>
inline constexpr handle_kind data_kind = handle_kind{};
template <>
inline constexpr handle_kind data_kind<aclDataBuffer> = handle_kind::data_buffer;
template <>
inline constexpr handle_kind data_kind<aclTensorDesc> = handle_kind::tensor_desc;

/// The handle of `made`. Throws 207005 when there is no room in the table.
template <class T>
[[nodiscard]] T* hold(std::shared_ptr<T> made) {
  return static_cast<T*>(new_handle(data_kind<T>, std::move(made)));
}

/// What `handle` stands for, or null: for the length of one call, and until the thread looks up
/// another one of its kind.
template <class T>
[[nodiscard]] T* object_of(const T* handle) noexcept {
  return static_cast<T*>(
      handle_table::instance().look(data_kind<T>, const_cast<T*>(handle)));
}

/// Makes `handle` invalid. 100000 for null, 107017 for what is none.
template <class T>
status let_go(const char* call, const T* handle) {
  if (handle == nullptr) return bad_argument(std::string(call) + ": the object is null");
  const auto gone = handle_table::instance().remove(data_kind<T>, const_cast<T*>(handle));
  return gone ? status{} : invalid_handle("data object");
}

}  // namespace troupe::acl
