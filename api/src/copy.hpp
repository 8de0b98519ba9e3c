#pragma once

#include "actors/machine.hpp"
#include "core/command.hpp"
#include "core/status.hpp"
#include "troupe/copy_request.hpp"

namespace troupe {

/// A copy whose pointers have been looked at.
struct checked_copy {
  copy_kind direction = copy_kind::automatic; ///< as the addresses have it
  bool pinned = false;                        ///< no ordinary host memory is involved
};

/// Checks sizes and pointers of a copy of more than 0 bytes. Failures: 107000 for a null pointer,
/// too little room, or a range that leaves its device.
[[nodiscard]] result<checked_copy> check_copy(const machine& home, const copy_request& request);

/// The same for a copy in stream order, where the kind counts: 107000 when it contradicts the
/// addresses, 207000 from host to host.
[[nodiscard]] result<checked_copy> check_stream_copy(const machine& home,
                                                     const copy_request& request);

/// The command for a checked copy.
[[nodiscard]] command make_copy_command(const copy_request& request, copy_kind direction);

/// Runs a checked copy on the calling thread, on behalf of the DMA engine.
void run_copy_here(machine& home, const copy_request& request, copy_kind direction);

} // namespace troupe
