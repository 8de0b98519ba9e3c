#pragma once

#include <cstddef>

#include "core/status.hpp"

namespace troupe::acl {

/// Loads the shared object whose file has these bytes, for good. Failures: 107000 for what is not a
/// whole shared object of this kind of machine, 207005 when the system has no place for it, 100003
/// with the loader's reason.
[[nodiscard]] result<void*> load_image(const void* data, std::size_t bytes);

/// The same of a file. Failure: 100003.
[[nodiscard]] result<void*> load_file(const char* path);

}  // namespace troupe::acl
