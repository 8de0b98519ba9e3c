#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <set>
#include <string>
#include <utility>

#include "core/checking/block_watch.hpp"
#include "core/command.hpp"

namespace troupe {

class machine;

/// The checked mode of one memory: a `block_watch` with its lock, which tells what it finds as
/// diagnostics of the runtime, and how long freed blocks rest before they are used again, so that a
/// late write finds nobody else's data. Any thread; the lock is held while patterns are written or
/// read. Exists only in runtimes with the option `checked_memory`.
class memory_checker {
public:
  /// Freed blocks that rest at most: the oldest goes as another comes.
  static constexpr std::size_t resting_blocks_max = 64;
  static constexpr std::uint64_t resting_bytes_max = std::uint64_t{64} << 20;

  /// Of the memory called `name`, which begins at `base`.
  memory_checker(machine& home, std::string name, std::byte* base);

  // -- blocks: as in `block_watch`, by address --------------------------------

  void hand_out(const std::byte* data, std::uint64_t size, std::uint64_t bytes,
                std::uint64_t owner);
  void take_back(const std::byte* data, std::uint64_t size, std::uint64_t owner);
  void forget(const std::byte* data, std::uint64_t size);
  void clear();

  /// Whether a block that nobody may touch any more has rested long enough to be used again; it
  /// begins to at the first call.
  [[nodiscard]] bool rested(const std::byte* data, std::uint64_t size, std::uint64_t owner);

  /// What rests has done so: memory is short.
  void end_rest();

  // -- uses -------------------------------------------------------------------

  /// Who uses memory, for a report.
  struct user {
    const char* task = nullptr; ///< null: nobody in particular
    std::uint64_t number = 0;   ///< of a command; 0: a call of a client
    std::uint64_t stream = 0;
  };

  /// A declared use.
  void use(const access_range& range, const user& by);

  /// Looks at all guard zones, and at so much freed memory.
  void verify(std::uint64_t freed_bytes, const user& after);

private:
  [[nodiscard]] std::uint64_t offset_of(const void* address) const noexcept;
  void tell(const block_watch::findings& found, const user& by, const char* when) const;
  [[nodiscard]] std::string describe(const memory_misuse& each, const user& by,
                                     const char* when) const;

  machine& home_;
  const std::string name_;
  const std::byte* const base_;
  std::mutex guard_;
  block_watch watch_;
  std::deque<std::pair<std::uint64_t, std::uint64_t>> resting_; // offset, size
  std::uint64_t resting_bytes_ = 0;
  std::set<std::uint64_t> rests_; // the same by offset
  std::set<std::uint64_t> rested_;
};

/// Looks at what `c`, which has run or is about to, declares, and at what has become of memory. A
/// `stream` of 0: a client did its work.
void check_uses(machine& home, const command& c, std::uint64_t stream);

/// Looks at all memory of the runtime's devices as a whole.
void check_all(machine& home);

} // namespace troupe
