#pragma once

#include <memory>
#include <span>

#include "examples/digits/pipeline_step.hpp"

namespace troupe::digits {

/// A step of the rebuilt pipeline, by name, and how to make one. `make` throws `troupe::error`.
struct pipeline_entry {
  const char* name;
  const char* change; ///< what it does unlike the step before
  std::unique_ptr<pipeline_step> (*make)(const workshop& shop);
};

/// The steps, from the naive one to asynchronous graphs, and a way beside them. A new step is one line in the table.
[[nodiscard]] std::span<const pipeline_entry> pipeline_entries() noexcept;

} // namespace troupe::digits
