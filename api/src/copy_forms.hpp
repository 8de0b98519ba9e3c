#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "actors/payloads.hpp"
#include "api/src/copy.hpp"
#include "troupe/copy_batch.hpp"
#include "troupe/copy_conversion.hpp"
#include "troupe/copy_rows.hpp"

namespace troupe {

class stream_record;

/// A copy or fill of any form that has been looked at. The entries of a batch are still the caller's.
struct prepared_copy {
  copy_payload payload; ///< of 0 bytes, if there is nothing to do
  const char* name = "copy";
  copy_kind direction = copy_kind::automatic;
  bool pinned = true;                ///< no ordinary host memory is involved
  std::size_t target_extent = 0;     ///< bytes from the first to behind the last; of no batch
  std::size_t source_extent = 0;
  std::vector<std::uint64_t> owners; ///< contexts whose memory it touches, each once
};

/// Check a request of more than 0 bytes as `check_copy` does. Further failures, all 107000: a pitch
/// below the width; rows or elements that fit no address space; source and target that overlap and
/// are converted, or in rows of different pitch; a bad `conversion`. Those of a batch name the first
/// entry that is not right, which may also be one of another direction than those before it.
[[nodiscard]] result<prepared_copy> prepare(const machine& home, const copy_2d_request& request,
                                            const timeline* user = nullptr);
[[nodiscard]] result<prepared_copy> prepare(const machine& home, const copy_batch_request& request,
                                            const timeline* user = nullptr);
[[nodiscard]] result<prepared_copy> prepare(const machine& home, const convert_request& request,
                                            const timeline* user = nullptr);
[[nodiscard]] result<prepared_copy> prepare(const context_record& context,
                                            const fill_2d_request& request,
                                            const timeline* user = nullptr);

/// Whether a copy that says `kind` may be in a stream: 207000 from host to host, 107000 for a kind
/// that contradicts the addresses.
[[nodiscard]] status check_direction(copy_kind kind, copy_kind direction);

/// Submits it to `record` and, if ordinary memory is involved, waits until it has ended; see
/// `stream::copy`.
[[nodiscard]] status run_in_stream(stream_record& record, const prepared_copy& copy,
                                   call_site site);

/// Runs it on the calling thread for `context`, on behalf of the DMA engine. Failure: 107000 when
/// memory of it was freed since it was checked, or is mapped and not for that context to use so.
[[nodiscard]] status run_here(machine& home, std::uint64_t context, const prepared_copy& copy);

} // namespace troupe
