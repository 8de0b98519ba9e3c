#pragma once

namespace troupe::acl {

/// The one `T` of the process, made at first use and never destroyed: static destructors of the
/// program, and threads that outlive them, may still call.
template <class T>
[[nodiscard]] T& for_good() {
  static auto* const made = new T;
  return *made;
}

}  // namespace troupe::acl
