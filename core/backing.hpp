#pragma once

#include <cstdint>
#include <vector>

#include "core/device_heap.hpp"

namespace troupe {

/// Which parts of a device's reserved address space are backed by host memory.
///
/// A device of 80 GiB is an address range, not memory: the host pays only for what is touched.
/// As a touch cannot be seen, a block is charged for every granule that it reaches, when it is
/// handed out; and because pages stay resident after a free, the charge stays until the granule
/// is given back to the system. The caller holds the budget and does the system calls:
///
///     const auto charge = arena.charge_for(block.offset, block.size);
///     // charge <= what is left of the budget? else release_free(), return ranges, ask again
///     arena.commit(block.offset, block.size);
///
/// Books only: no system calls, no locks; one owner at a time. Costs are linear in the granules
/// that a call covers (40,960 for 80 GiB).
class backing {
public:
  /// Large enough to make the books small and to match a huge page, small enough that a trimmed
  /// pool returns most of what it freed.
  static constexpr std::uint64_t default_granule_bytes = std::uint64_t{2} << 20;

  /// Books for `capacity_bytes` of address space, nothing of it backed. The granule is a power of
  /// two; if it does not divide the capacity, the last granule is the shorter rest.
  explicit backing(std::uint64_t capacity_bytes,
                   std::uint64_t granule_bytes = default_granule_bytes);

  // -- modifiers --------------------------------------------------------------

  /// Marks all granules that touch [offset, offset + bytes) as backed; returns how many bytes
  /// that added, which is what `charge_for` said. The range lies in the arena, bytes above zero.
  std::uint64_t commit(std::uint64_t offset, std::uint64_t bytes);

  /// Marks as not backed what `trimmable` lists, from its beginning and no more granules than make
  /// up `wanted_bytes`, and returns the list: the caller must now really give these ranges back
  /// (their contents are lost) and lower its budget's use by their sum.
  std::vector<device_heap::range> release_free(const device_heap& heap,
                                               std::uint64_t wanted_bytes = UINT64_MAX);

  // -- observers --------------------------------------------------------------

  /// How many bytes `commit` of the same range would newly back.
  [[nodiscard]] std::uint64_t charge_for(std::uint64_t offset, std::uint64_t bytes) const;

  /// The backed granules that lie entirely in holes of `heap`, neighbours within a hole joined,
  /// in the order of their offsets. `heap` has the capacity of this arena.
  [[nodiscard]] std::vector<device_heap::range> trimmable(const device_heap& heap) const;

  [[nodiscard]] std::uint64_t backed_bytes() const noexcept { return backed_bytes_; }
  [[nodiscard]] std::uint64_t capacity_bytes() const noexcept { return capacity_bytes_; }
  [[nodiscard]] std::uint64_t granule_bytes() const noexcept { return granule_bytes_; }

private:
  /// Granules by index, [first, last).
  struct span {
    std::uint64_t first = 0;
    std::uint64_t last = 0;
  };

  [[nodiscard]] span touched(std::uint64_t offset, std::uint64_t bytes) const;
  [[nodiscard]] span contained(const device_heap::range& hole) const;
  [[nodiscard]] std::uint64_t start_of(std::uint64_t granule) const noexcept;

  std::uint64_t capacity_bytes_;
  std::uint64_t granule_bytes_;
  std::vector<bool> backed_;
  std::uint64_t backed_bytes_ = 0;
};

} // namespace troupe
