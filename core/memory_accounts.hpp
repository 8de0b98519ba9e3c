#pragma once

#include <cstdint>
#include <map>

namespace troupe {

/// What each owner of blocks of one memory has, and how much it may have. Books only; the caller
/// tells of every block that comes, waits and goes. A plain value without locks.
///
/// Sizes are what blocks occupy, rounding included, as that is what others then cannot have.
class memory_accounts {
public:
  /// Of one owner, in bytes.
  struct account {
    std::uint64_t used = 0;        ///< occupied by its blocks, those in quarantine included
    std::uint64_t requested = 0;   ///< what was asked for with these
    std::uint64_t quarantined = 0; ///< part of `used`
    std::uint64_t high_water = 0;  ///< the most that was used
    std::uint64_t blocks = 0;
    std::uint64_t limit = 0;       ///< 0: none
    bool closed = false;
  };

  /// From now on `owner` may occupy no more than `bytes`; 0: as much as there is.
  void set_limit(std::uint64_t owner, std::uint64_t bytes);

  /// Whether `owner` may occupy `size` bytes more.
  [[nodiscard]] bool has_room(std::uint64_t owner, std::uint64_t size) const;

  void add(std::uint64_t owner, std::uint64_t size, std::uint64_t requested);
  void quarantine(std::uint64_t owner, std::uint64_t size);
  void leave_quarantine(std::uint64_t owner, std::uint64_t size);
  void remove(std::uint64_t owner, std::uint64_t size, std::uint64_t requested);

  /// `owner` is gone: its account is forgotten with its last block.
  void close(std::uint64_t owner);

  [[nodiscard]] account of(std::uint64_t owner) const;

private:
  std::map<std::uint64_t, account> all_;
};

} // namespace troupe
