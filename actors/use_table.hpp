#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "actors/ticket.hpp"
#include "core/command.hpp"
#include "core/status.hpp"

namespace troupe {

class machine;
class temporary_record;

/// Ranges of memory whose uses count from the submission of a command to its end: host memory that
/// the program has registered, and temporary blocks of device memory. So it is known of each whether
/// anything pending uses it. Any thread; the lock is held for a look at the books.
class use_table {
public:
  // -- registered host memory -------------------------------------------------

  /// Registers `bytes` bytes at `base`. Failures: 107000 when some of it is registered already.
  [[nodiscard]] status add_host(const std::byte* base, std::uint64_t bytes);

  /// Whether all of a range lies in host memory that is registered.
  [[nodiscard]] bool is_host(const void* address, std::uint64_t bytes) const;

  /// What may still use the host memory registered at `base`.
  [[nodiscard]] frontier users_of_host(const std::byte* base) const;

  /// The same, and for commands it is ordinary memory from now on; `forget` ends the rest.
  [[nodiscard]] frontier close_host(const std::byte* base);
  void forget(const std::byte* base);

  // -- temporary blocks -------------------------------------------------------

  void add_temporary(const std::shared_ptr<temporary_record>& one);

  /// Its handle is gone: it is given back once nothing uses it, by `take_dropped`.
  void drop_temporary(const temporary_record& one);
  [[nodiscard]] std::vector<std::shared_ptr<temporary_record>> take_dropped();

  /// The one of the device, and of `owner` if that is not 0, that was used least recently and that
  /// nothing pending uses: it counts as released, and takes no more uses. Null if there is none.
  [[nodiscard]] std::shared_ptr<temporary_record> release_one(std::uint32_t device,
                                                              std::uint64_t owner);

  /// It has memory again and takes uses; false if it was not released.
  bool renew(const temporary_record& one);

  /// What `release_one` could release, in bytes.
  [[nodiscard]] std::uint64_t releasable_bytes(std::uint32_t device, std::uint64_t owner) const;

  // -- uses -------------------------------------------------------------------

  /// The uses of one command on its way to a stream: while this lives nothing that it touches is
  /// released, and after `accepted` not before the command has ended. One thread.
  class uses {
  public:
    uses() noexcept = default;
    ~uses();
    uses(const uses&) = delete;
    uses& operator=(const uses&) = delete;

    /// Failure: 107000 for a temporary block that was released.
    [[nodiscard]] status begin(const machine& home, const command& c);
    void accepted(const ticket& as);

  private:
    use_table* table_ = nullptr;
    std::vector<const std::byte*> bases_;
  };

private:
  struct entry {
    std::uint64_t bytes = 0;
    std::shared_ptr<temporary_record> temporary; // null: registered host memory
    bool closed = false;                         // whose it was is done with it
    unsigned pins = 0;
    frontier pending;
    std::uint64_t last_used = 0;
    bool vacated = false; // a temporary block that was released

    [[nodiscard]] bool is_of(std::uint32_t device, std::uint64_t owner) const;
    [[nodiscard]] bool idle() const { return pins == 0 && all_ended(pending); }
  };
  using entry_table = std::map<const std::byte*, entry, std::less<>>;

  [[nodiscard]] entry_table::iterator find(const void* address);
  [[nodiscard]] entry_table::const_iterator find(const void* address) const;

  mutable std::mutex guard_;
  entry_table entries_; // by their beginnings
  std::uint64_t last_use_ = 0;
};

} // namespace troupe
