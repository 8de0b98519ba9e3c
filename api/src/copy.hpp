#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <gsl/gsl>

#include "actors/machine.hpp"
#include "actors/memory_record.hpp"
#include "core/command.hpp"
#include "core/status.hpp"
#include "troupe/copy_request.hpp"

namespace troupe {

class context_record;
class stream_record;

/// A copy whose pointers have been looked at.
struct checked_copy {
  copy_kind direction = copy_kind::automatic; ///< as the addresses have it
  bool pinned = false;                        ///< no ordinary host memory is involved
  std::uint64_t target_owner = 0;             ///< context of the device memory there, or 0
  std::uint64_t source_owner = 0;
};

/// What a copy of more than 0 bytes must have wherever it is to run. Failures: 107000 for a null
/// pointer or too little room.
[[nodiscard]] status check_sizes(const copy_request& request);
/// One side of a copy: what of the address space it touches, and whose memory the caller takes that
/// to be; 0 if that is not known.
struct copy_side {
  const void* address = nullptr;
  std::size_t bytes = 0;
  std::uint64_t said_context = 0;
};

/// Checks where the two sides of a copy of more than 0 bytes are; failures as of `check_copy`.
[[nodiscard]] result<checked_copy> check_sides(const machine& home, const copy_side& target,
                                               const copy_side& source, const timeline* user);

/// Checks sizes and pointers of a copy of more than 0 bytes. Failures: 107000 for a null pointer,
/// too little room, or a range of device or pinned memory that does not lie in one block in use of
/// the context named. `user` is the timeline that will use the memory; null if it is used here.
[[nodiscard]] result<checked_copy> check_copy(const machine& home, const copy_request& request,
                                              const timeline* user = nullptr);

/// The same for a copy in stream order, where the kind counts: 107000 when it contradicts the
/// addresses, 207000 from host to host.
[[nodiscard]] result<checked_copy> check_stream_copy(const machine& home,
                                                     const copy_request& request,
                                                     const timeline& user);

/// Checks the target of a fill of more than 0 bytes by a stream of `context`. Failures: 107000 for
/// memory that is not the device's, or a range that does not lie in one block in use of `context`.
[[nodiscard]] status check_fill(const context_record& context, const void* target,
                                std::size_t bytes, const timeline* user);

/// Which engine's work a copy in that direction is.
[[nodiscard]] command_kind command_for(copy_kind direction) noexcept;

[[nodiscard]] std::string to_string(copy_kind kind);

/// Submits a checked copy, which touches memory of the contexts `owners` (0 for none), and unless it
/// `returns_at_once` waits until it touches the caller's memory no more. A stream that captures takes
/// it as a node. Failures: those of `check_mapped` and of the submission, 107041 for a captured copy
/// that would wait, and why it was dropped, if it was.
[[nodiscard]] status submit_copy(stream_record& record, command&& made,
                                 gsl::span<const std::uint64_t> owners, bool returns_at_once);

/// The command for a checked copy.
[[nodiscard]] command make_copy_command(const copy_request& request, copy_kind direction);

/// A checked fill as a command.
[[nodiscard]] command make_fill_command(void* target, std::size_t bytes, unsigned char value,
                                        call_site site);

/// What keeps the memory of a copy from being reused while a client thread runs it.
struct held_copy {
  memory_record::lease target; ///< empty for ordinary memory
  memory_record::lease source;
};

/// Holds the memory of a copy that was checked as `seen`; nothing if it was freed since.
[[nodiscard]] std::optional<held_copy> hold_copy(const machine& home, const copy_request& request,
                                                 const checked_copy& seen);

/// Runs a checked copy on the calling thread, on behalf of the DMA engine. Its memory is held.
void run_copy_here(machine& home, const copy_request& request, copy_kind direction);

} // namespace troupe
