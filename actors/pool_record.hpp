#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include <caf/actor.hpp>

#include "actors/context_record.hpp"
#include "actors/memory_actor.hpp"
#include "actors/ticket.hpp"
#include "core/counters.hpp"

namespace troupe {

/// What everyone shares of one pool: free blocks by size, each with the ticket after which it may
/// be touched again. Taking a block that is there costs no message; growing the pool goes through
/// the pool actor.
///
/// Stream order is what makes reuse safe without waiting: a block freed on stream S is reused on S
/// at once, as all later commands of S come after all earlier ones; on another stream only when the
/// ticket of the free has ended.
class pool_record {
public:
  explicit pool_record(std::shared_ptr<context_record> context) : context_(std::move(context)) {}

  // -- blocks, any thread -----------------------------------------------------

  /// A free block of at least `bytes` for use on the timeline `line`; nothing if the pool must
  /// grow first. `bytes` is positive.
  [[nodiscard]] std::optional<memory_block> take(std::uint64_t bytes, const timeline& line);

  /// Puts a block back, free once `after` has ended.
  void put_back(const memory_block& block, ticket after);

  /// Adds memory taken from the device.
  void add_slab(const memory_block& slab);

  /// The slab that an allocation of `bytes` needs when the pool must grow.
  [[nodiscard]] static std::uint64_t slab_bytes_for(std::uint64_t bytes);

  /// What a block of `bytes` occupies: its size class.
  [[nodiscard]] static std::uint64_t size_class(std::uint64_t bytes);

  /// All slabs, which then belong to the caller; the pool is empty.
  [[nodiscard]] std::vector<memory_block> surrender();

  [[nodiscard]] pool_counters counters() const;
  [[nodiscard]] context_record& context() const noexcept { return *context_; }

  caf::actor actor; ///< set once, before the record is shared

private:
  struct free_entry {
    std::byte* data;
    ticket after;
  };

  static constexpr std::uint64_t slab_bytes_min = std::uint64_t{2} << 20;
  static constexpr std::size_t search_max = 8; // freed blocks looked at per allocation

  const std::shared_ptr<context_record> context_;
  mutable std::mutex guard_;
  std::map<std::uint64_t, std::vector<free_entry>> free_; // by size class
  std::vector<memory_block> slabs_;
  std::byte* fresh_ = nullptr; // the untouched rest of the newest slab
  std::uint64_t fresh_bytes_ = 0;
  pool_counters counters_;
};

} // namespace troupe
