#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "core/call_site.hpp"
#include "core/code.hpp"

namespace troupe {

/// Which resource ran out, and by how much: the figures behind every 207xxx code.
struct shortage {
  std::string resource; ///< "device memory", "streams", "events", "memory budget" ...
  std::uint64_t asked = 0;
  std::uint64_t used = 0;
  std::uint64_t limit = 0;
};

/// Where a failure came from. Numbers are the runtime's own ids, zero where a field does not
/// apply; a record is written once, when the failure happens, and never changed.
struct error_record {
  code what = code::internal_error;
  std::string message;

  std::optional<std::uint32_t> device; ///< index of the device
  std::uint64_t context = 0;           ///< id of the context
  std::uint64_t stream = 0;            ///< id of the stream
  std::uint64_t task_number = 0;       ///< sequence number of the task in its stream, from 1
  std::string task_name;
  std::uint64_t thread = 0;            ///< number of the thread that submitted the task
  call_site site;                      ///< where it was submitted

  std::string plan_entry;              ///< the fault plan entry that caused it; empty if natural
  std::optional<shortage> lacking;
  std::shared_ptr<const error_record> cause; ///< what led to this; null for a first cause
};

/// Code, message, origin, and each cause below it on a line of its own.
[[nodiscard]] std::string describe(const error_record& record);

} // namespace troupe
