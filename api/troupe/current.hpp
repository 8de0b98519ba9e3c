#pragma once

#include <cstddef>

#include "core/status.hpp"
#include "troupe/context.hpp"

/// The calling thread's current context, for code that names none. Each thread has its own; binding
/// on one changes no other. Every call but `unbind` fails with 107002 on a thread that has none
/// bound, and changes nothing. Once the bound context has been destroyed, the next call here says
/// 507007 and unbinds the thread.
namespace troupe::current {

/// The bound context.
[[nodiscard]] result<troupe::context> context();

/// Leaves the thread without a current context.
void unbind() noexcept;

/// `context::default_stream` of the bound context.
[[nodiscard]] result<stream> default_stream();

/// `device::memory` of the bound context's device.
[[nodiscard]] result<memory_info> memory();

/// `context::synchronize` of the bound context.
status synchronize(timeout limit = forever);

/// `context::allocate` of the bound context.
template <class T>
[[nodiscard]] result<buffer<T>> allocate(std::size_t count,
                                         initial contents = initial::unspecified) {
  auto bound = context();
  if (!bound) return bound.error();
  return bound.value().template allocate<T>(count, contents);
}

/// `stream::copy` on the bound context's default stream.
template <class Target, class Source>
status copy_async(Target&& target, const Source& source, call_site site = call_site::here()) {
  auto stream = default_stream();
  if (!stream) return stream.error();
  return stream.value().copy(target, source, site);
}

} // namespace troupe::current
