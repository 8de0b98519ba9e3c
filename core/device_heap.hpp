#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

namespace troupe {

/// Hands out ranges of a device's memory as offsets into [0, capacity); touches no memory itself.
///
/// Best fit: the smallest hole that is large enough, the lowest of equals, always cut at its low
/// end. That keeps large holes whole for large blocks, and makes the choice a function of the
/// calls alone, so that a replayed run gets the same addresses. Neighbouring holes are merged at
/// once; two holes therefore never touch. Every operation costs O(log n) in blocks and holes,
/// except those that return a list.
///
/// Running out is a value (no block), not an error: pools ask, trim, and ask again as a matter of
/// course. A plain value without locks: one owner at a time.
class device_heap {
public:
  // -- member types -----------------------------------------------------------

  /// A live block. `size` is what it occupies, `requested` what its owner may touch, in bytes.
  struct block {
    std::uint64_t offset = 0;
    std::uint64_t size = 0;
    std::uint64_t requested = 0;
    std::uint64_t owner = 0; ///< the tag given to `allocate`, commonly a context's id
    bool retired = false;    ///< see `retire`

    friend bool operator==(const block&, const block&) = default;
  };

  /// The bytes [offset, offset + size).
  struct range {
    std::uint64_t offset = 0;
    std::uint64_t size = 0;

    friend bool operator==(const range&, const range&) = default;
  };

  enum class free_outcome {
    freed,
    unknown,      ///< outside the heap, or memory that was never part of any block
    interior,     ///< inside a live block, but not its start
    already_free, ///< in memory that was handed out once and is free now
  };

  struct free_result {
    free_outcome outcome = free_outcome::unknown;
    block subject; ///< the block freed, or the one an interior offset points into; else empty
  };

  /// Sizes in bytes.
  struct figures {
    std::uint64_t capacity = 0;
    std::uint64_t used = 0;      ///< occupied by live blocks, rounding included
    std::uint64_t requested = 0; ///< what the owners of the live blocks asked for
    std::uint64_t free = 0;
    std::uint64_t used_high_water = 0; ///< the largest `used` so far
    std::uint64_t largest_hole = 0;
    std::size_t holes = 0;
    std::size_t live_blocks = 0;

    /// The share of the free memory that the largest hole does not hold: 0 when all free memory
    /// is one hole (or none is left), towards 1 as it falls into crumbs.
    [[nodiscard]] double fragmentation() const noexcept;
  };

  static constexpr std::uint64_t default_alignment = 512;

  // -- constructors -----------------------------------------------------------

  /// A heap of `capacity` bytes, rounded down to whole units of `alignment`, a power of two.
  explicit device_heap(std::uint64_t capacity, std::uint64_t alignment = default_alignment);

  // -- modifiers --------------------------------------------------------------

  /// Takes `bytes` (above zero: the caller refuses zero with its own code) and at least `spare` more
  /// behind them, rounded up to the alignment, for `owner`. Nothing when no hole is large enough; the
  /// heap is then unchanged.
  [[nodiscard]] std::optional<block> allocate(std::uint64_t bytes, std::uint64_t owner = 0,
                                              std::uint64_t spare = 0);

  /// The same of whole pages: the block begins at a multiple of `page`, a power of two above the
  /// alignment, and occupies whole pages. The smallest hole that has such a place; costs a look at each
  /// hole that is large enough and has none, of which none has room for a page more.
  [[nodiscard]] std::optional<block> allocate_pages(std::uint64_t bytes, std::uint64_t page,
                                                    std::uint64_t owner, std::uint64_t spare);

  /// Gives back the block that starts at `offset`. Any other offset changes nothing, and the
  /// outcome says which mistake it was.
  free_result free(std::uint64_t offset);

  /// Marks the block that starts at `offset`, if there is one: its owner is done with it, but it
  /// stays occupied until it is freed.
  void retire(std::uint64_t offset);

  /// Gives back all blocks of `owner`; returns them in the order of their offsets.
  std::vector<block> free_all(std::uint64_t owner);

  // -- observers --------------------------------------------------------------

  /// The live block that occupies `offset`. The slack between `requested` and `size` counts as
  /// the block's, so that a check of bounds can name the block that was overrun.
  [[nodiscard]] std::optional<block> find(std::uint64_t offset) const;

  /// Whether `offset` has ever been part of a block: tells freed memory from a stray address.
  [[nodiscard]] bool handed_out(std::uint64_t offset) const noexcept { return offset < frontier_; }

  /// The live blocks of `owner`, in the order of their offsets.
  [[nodiscard]] std::vector<block> blocks_of(std::uint64_t owner) const;

  /// All free ranges, in the order of their offsets; no two of them touch.
  [[nodiscard]] std::vector<range> holes() const;

  [[nodiscard]] figures current_figures() const noexcept;

  /// What a block of `bytes`, at most the capacity, occupies.
  [[nodiscard]] std::uint64_t size_for(std::uint64_t bytes) const noexcept {
    return (bytes + alignment_ - 1) & ~(alignment_ - 1);
  }

  [[nodiscard]] std::uint64_t capacity() const noexcept { return capacity_; }
  [[nodiscard]] std::uint64_t alignment() const noexcept { return alignment_; }

private:
  struct extent {
    std::uint64_t size = 0;
    std::uint64_t requested = 0;
    std::uint64_t owner = 0;
    bool retired = false;
  };
  using live_map = std::map<std::uint64_t, extent>;

  static block block_of(const live_map::value_type& entry);
  [[nodiscard]] live_map::const_iterator occupant(std::uint64_t offset) const;
  void add_hole(std::uint64_t offset, std::uint64_t size);
  block cut(std::uint64_t hole, std::uint64_t offset, const extent& what);
  block release(live_map::const_iterator entry);

  std::uint64_t alignment_;
  std::uint64_t capacity_;
  live_map live_;
  std::map<std::uint64_t, std::uint64_t> holes_;                    // offset to size
  std::set<std::pair<std::uint64_t, std::uint64_t>> holes_by_size_; // size, offset
  std::set<std::pair<std::uint64_t, std::uint64_t>> by_owner_;      // owner, offset
  std::uint64_t used_ = 0;
  std::uint64_t requested_ = 0;
  std::uint64_t used_high_water_ = 0;
  // End of the highest block ever handed out. As blocks are cut from the low end of a hole, every
  // byte below it has belonged to a block, but for what pages left in front of them: this one number
  // tells a double free from a stray pointer, with no list of past blocks that would have to be
  // bounded.
  std::uint64_t frontier_ = 0;
};

} // namespace troupe
