#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "core/access.hpp"
#include "core/device_heap.hpp"
#include "core/status.hpp"

namespace troupe {

/// What a context may do with the memory mapped into a range of addresses.
enum class mapped_access : unsigned char { none, read, read_write };

/// The books of a space of device addresses: which ranges are reserved, what is mapped where in
/// them, which context may touch it, and what is being touched. Knows offsets into the space only,
/// and what is mapped only as something to be kept alive.
///
/// What is unmapped while somebody holds it takes no new holders and ends with the last; so does
/// a range that is released. A plain value without locks: one owner at a time.
class address_map {
public:
  // -- member types -----------------------------------------------------------

  /// Sizes, offsets and addresses are multiples of this: 2 MiB.
  static constexpr std::uint64_t granule = std::uint64_t{1} << 21;
  static constexpr std::uint64_t alignment_max = std::uint64_t{1} << 30;

  struct range {
    std::uint64_t id = 0; ///< never used twice
    std::uint64_t offset = 0;
    std::uint64_t bytes = 0;
  };

  /// A mapping that is over: its place may be closed and what kept it alive let go.
  struct ended {
    std::uint64_t offset = 0;
    std::uint64_t bytes = 0;
    std::shared_ptr<void> memory;
  };

  /// Consecutive mappings that are held: from the first one's offset, `bytes` on.
  struct held {
    std::uint64_t offset = 0;
    std::uint64_t bytes = 0;
  };

  // -- constructors -----------------------------------------------------------

  /// A space of `capacity` bytes, rounded down to whole granules.
  explicit address_map(std::uint64_t capacity);

  // -- ranges -----------------------------------------------------------------

  /// Takes addresses for `bytes`, rounded up to whole granules, at a multiple of `alignment`; 0
  /// stands for the granule. Failures: 100000 for 0 bytes, 107000 for an alignment that is no power
  /// of two up to `alignment_max`, 207001 when no hole is large enough.
  [[nodiscard]] result<range> reserve(std::uint64_t bytes, std::uint64_t alignment);

  /// Gives the addresses of `id` back. Failures: 107000 for a range released before, or with
  /// something mapped. With `force` what is mapped is unmapped first and goes to `over`.
  status release(std::uint64_t id, bool force, std::vector<ended>& over);

  // -- mappings ---------------------------------------------------------------

  /// Maps `memory` of `bytes` bytes at `at` bytes into the range. Failures, after which nothing has
  /// changed: 107000 for a range that was released, a place that is not a multiple of the granule,
  /// leaves the range, or has something mapped, or something that is still held.
  [[nodiscard]] result<std::uint64_t> map(std::uint64_t id, std::uint64_t at, std::uint64_t bytes,
                                          std::shared_ptr<void> memory);

  /// Ends the mapping that begins at `at` bytes into the range, which goes to `over` unless it is
  /// held. Failures: 107000 when none begins there.
  status unmap(std::uint64_t id, std::uint64_t at, std::vector<ended>& over);

  // -- access -----------------------------------------------------------------

  /// What `context` may do in the range from now on. Failure: 107000 for one that was released.
  status set_access(std::uint64_t id, std::uint64_t context, mapped_access access);

  /// Holds the mappings that `bytes` bytes at `offset` lie in, for `context` to use. Failures, with
  /// nothing held: 107000 when some of it is not reserved, not mapped, or not for `context` to use
  /// in that way.
  [[nodiscard]] result<held> hold(std::uint64_t context, std::uint64_t offset, std::uint64_t bytes,
                                  access_mode mode);

  /// Ends such a hold. Mappings that waited for it go to `over`.
  void let_go(const held& what, std::vector<ended>& over);

  // -- observers --------------------------------------------------------------

  [[nodiscard]] std::uint64_t mapped_bytes() const noexcept { return mapped_bytes_; }

private:
  struct reservation {
    std::uint64_t block = 0; // of `addresses_`
    range where;
    bool released = false;
    std::map<std::uint64_t, mapped_access> rights; // by context
  };
  struct mapping {
    std::uint64_t bytes = 0;
    std::uint64_t range = 0;
    std::shared_ptr<void> memory;
    unsigned holders = 0;
    bool leaving = false;
  };
  using mapping_table = std::map<std::uint64_t, mapping>; // by offset

  [[nodiscard]] result<reservation*> find(std::uint64_t id);
  [[nodiscard]] bool is_empty(const reservation& r) const;
  [[nodiscard]] reservation* range_at(std::uint64_t offset);
  void end(mapping_table::iterator at, std::vector<ended>& over);
  void forget_if_empty(std::uint64_t id);

  device_heap addresses_;
  std::map<std::uint64_t, reservation> ranges_; // by id
  mapping_table mappings_;
  std::uint64_t last_id_ = 0;
  std::uint64_t mapped_bytes_ = 0;
};

} // namespace troupe
