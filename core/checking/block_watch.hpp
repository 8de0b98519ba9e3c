#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "core/checking/written_ranges.hpp"

namespace troupe {

/// A use of memory that was wrong. Sizes in bytes, offsets in the memory unless said otherwise.
struct memory_misuse {
  enum class kind : unsigned char {
    read_before_write, ///< bytes of a block that nothing has written since it was handed out
    out_of_bounds,     ///< bytes behind the end of a block, up to the next one
    used_after_free,   ///< bytes of a block that has been freed
  };

  kind what = kind::read_before_write;
  bool found_written = false; ///< by what is in memory now; else by what a command declares
  std::uint64_t block = 0;
  std::uint64_t block_bytes = 0; ///< as asked for
  std::uint64_t owner = 0;
  std::uint64_t at = 0;          ///< the first wrong byte, from the block's beginning
  std::uint64_t bytes = 0;       ///< from there to the last wrong one
  std::uint64_t next = 0;        ///< the block in use that begins right behind; 0: none
};

/// Watches how the blocks of one memory are used: knows what has been written of each, keeps a guard
/// zone behind what was asked for, and patterns where nothing has been written yet and where nobody
/// may write any more. A write in front of a block hits the zone of the one before, or freed memory.
///
/// It reads and writes the memory it watches, but only where no right use does at that time. No
/// locks: one owner at a time.
class block_watch {
public:
  using findings = std::vector<memory_misuse>;

  /// What a block is made larger by at least.
  static constexpr std::uint64_t guard_bytes = 64;

  static constexpr std::byte fresh{0xCB};
  static constexpr std::byte guard{0xFD};
  static constexpr std::byte freed{0xDD};

  /// Of memory whose offset 0 is `base`.
  explicit block_watch(std::byte* base) noexcept : base_(base) {}

  // -- blocks -----------------------------------------------------------------

  /// A block of `size` bytes at `offset` is handed out, of which `owner` may use the first `bytes`.
  /// Tells what was written there since it was freed.
  void hand_out(std::uint64_t offset, std::uint64_t size, std::uint64_t bytes, std::uint64_t owner,
                findings& found);

  /// It was given back, and nobody may touch it any more. Tells what was written behind its end.
  void take_back(std::uint64_t offset, std::uint64_t size, std::uint64_t owner, findings& found);

  /// What lies in [offset, offset + size) is watched no more: others divide it further, or its
  /// contents are gone.
  void forget(std::uint64_t offset, std::uint64_t size);

  /// All of it.
  void clear();

  // -- uses -------------------------------------------------------------------

  /// Somebody is about to read, or to write, those bytes, which tells what is wrong with that; each
  /// mistake once. What is written counts as written from then on.
  void read(std::uint64_t offset, std::uint64_t bytes, findings& found);
  void write(std::uint64_t offset, std::uint64_t bytes, findings& found);

  /// Looks at all guard zones, and at `freed_bytes` bytes of freed memory, going on where the last
  /// look ended. What is wrong is told once.
  void verify(std::uint64_t freed_bytes, findings& found);

private:
  static constexpr std::size_t freed_max = 4096; // ranges remembered

  struct block {
    std::uint64_t size = 0;
    std::uint64_t bytes = 0;
    std::uint64_t owner = 0;
    written_ranges written;
  };
  struct remains {
    std::uint64_t size = 0;
    std::uint64_t block = 0; // where it began
    std::uint64_t bytes = 0;
    std::uint64_t owner = 0;
  };
  using block_table = std::map<std::uint64_t, block>;
  using freed_table = std::map<std::uint64_t, remains>;

  [[nodiscard]] block_table::iterator holder_of(std::uint64_t offset);
  [[nodiscard]] std::optional<written_ranges::range> spoilt(std::uint64_t first, std::uint64_t end,
                                                            std::byte pattern) const;
  void fill(std::uint64_t first, std::uint64_t end, std::byte pattern);
  block* use(std::uint64_t offset, std::uint64_t bytes, findings& found);
  void verify_guard(block_table::iterator at, findings& found);
  void verify_freed(freed_table::iterator at, std::uint64_t first, std::uint64_t end,
                    findings& found);
  void make_room(std::uint64_t offset, std::uint64_t end, findings* found);

  std::byte* const base_;
  block_table live_;  // by offset
  freed_table freed_; // by offset
  std::uint64_t look_from_ = 0;
};

} // namespace troupe
