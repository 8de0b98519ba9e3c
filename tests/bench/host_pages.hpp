#pragma once

#include <gsl/span>

#include <cstddef>

namespace troupe::bench {

/// Ordinary host memory in pages of its own, all of them touched, so that every contender copies
/// from and to memory of the same alignment and page size. Never given back: it ends with the
/// process. Throws std::bad_alloc.
[[nodiscard]] gsl::span<std::byte> host_pages(std::size_t bytes);

}  // namespace troupe::bench
