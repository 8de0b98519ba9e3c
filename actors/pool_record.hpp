#pragma once

#include <atomic>
#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include <caf/actor.hpp>

#include "actors/context_record.hpp"
#include "actors/memory_record.hpp"
#include "actors/ticket.hpp"
#include "core/counters.hpp"
#include "core/pool_options.hpp"

namespace troupe {

class witness;

/// What everyone shares of one pool: free blocks by size, each with the ticket after which it may
/// be touched again. Taking a block that is there costs no message; growing the pool goes through
/// the pool actor.
///
/// Stream order is what makes reuse safe without waiting: a block freed on stream S is reused on S
/// at once, as all later commands of S come after all earlier ones; on another stream when that comes
/// after the ticket of the free by its waits (`wait_book`), or when the ticket has ended. A block that
/// was used on other streams than its own is reused only where the same holds of what they had to do
/// at the free.
///
/// Stream order ends where an execution is given up on, which goes on beside the later commands.
/// While an abort waits for one, and while a stray goes on, what it may touch is not reused. Of a
/// block that was reused before the abort the pool knows whose it was: it is *contested*, and
/// commands that touch it are refused, until the stray returns. So they are of a stream whose wait
/// was dropped by an abort, until the work has ended that it was to come after.
///
/// A part of a slab that has been cut off stays one, for its size class, until all of the slab is
/// free and nothing may touch it: then the slab is divided anew when the pool would have to grow,
/// or goes back to the device when that has no room.
class pool_record final : public subdivision {
public:
  /// Which streams may have used a block since it was handed out.
  enum class reach : unsigned char {
    own_stream,
    unknown,       ///< a view of it was taken: any
    other_streams, ///< seen in a command of another
  };

private:
  struct slab {
    memory_block memory;
    std::size_t in_use = 0; // blocks
    bool untouched = true;  // somebody grew the pool for it and is about to take it
  };
  // Work of a stream that had a block before, after command `since` and up to the ticket.
  struct earlier {
    ticket work;
    std::uint64_t since;

    [[nodiscard]] bool over() const {
      return work.line->completed() >= work.number && !contests();
    }
    [[nodiscard]] bool contests() const { return work.line->has_stray(since, work.number); }
  };
  struct cut;
  using shelf = std::list<cut*>; // in the order in which they were freed
  struct cut {
    std::byte* data = nullptr;
    std::uint64_t size = 0;         // its class
    slab* part_of = nullptr;
    std::uint64_t requested = 0;    // 0: free
    const timeline* user = nullptr; // whose it is, to compare
    std::atomic<reach> used_on = reach::own_stream;
    // Those of `user` that touch it, or did before it was handed out in stream order, come after
    // command `since`.
    std::uint64_t since = 0;
    std::vector<earlier> before; // work that it was handed out behind, and that may still touch it
    // While it is free: what must end before others may touch it, and where it lies.
    ticket after;
    std::unique_ptr<frontier> others; // commonly null
    shelf* lies_on = nullptr;         // that of its class
    shelf::iterator at;
  };

public:
  /// A block handed out. Good for as long as the pool.
  struct piece {
    std::byte* data = nullptr;
    std::uint64_t bytes = 0; ///< as asked for
    cut* place = nullptr;
  };

  explicit pool_record(std::shared_ptr<context_record> context, const pool_options& options = {});

  // -- blocks, any thread -----------------------------------------------------

  /// A free block of at least `bytes` for use on the timeline `line`; nothing if the pool must
  /// grow first. `bytes` is positive.
  [[nodiscard]] std::optional<piece> take(std::uint64_t bytes, const timeline& line);

  /// Puts a block back, free once `after` and all of `others` have ended, of which the stream of the
  /// former may overtake it: from now on the block is that stream's.
  void put_back(const piece& block, ticket after, frontier others = {});

  /// Notes who may use a block.
  static void note_use(const piece& block, reach by) noexcept {
    auto& seen = block.place->used_on;
    if (seen.load(std::memory_order_relaxed) < by) seen.store(by, std::memory_order_relaxed);
  }
  [[nodiscard]] static reach uses_of(const piece& block) noexcept {
    return block.place->used_on.load(std::memory_order_relaxed);
  }

  /// Whether it was taken for the stream of `line`.
  [[nodiscard]] static bool is_of(const piece& block, const timeline& line) noexcept {
    return block.place->user == &line;
  }

  /// What the streams of the context have to do, if any but the block's own may use it and it is freed
  /// at `line`: without that stream itself.
  [[nodiscard]] frontier uses_elsewhere(const piece& block, const timeline& line) const;

  [[nodiscard]] std::optional<part> use_part(const std::byte* address,
                                             const timeline* user) override;

  /// Adds memory taken from the device. False if the pool has been given up: it is not taken.
  bool add_slab(const memory_block& memory);

  /// The slab that an allocation of `bytes` needs when the pool must grow.
  [[nodiscard]] std::uint64_t slab_bytes_for(std::uint64_t bytes) const;

  /// What a block of `bytes` occupies: its size class; the largest number if that is no number.
  [[nodiscard]] static std::uint64_t size_class(std::uint64_t bytes);

  /// The slabs that nothing is or may be used of, which then belong to the caller.
  [[nodiscard]] std::vector<memory_block> take_idle();

  /// Of these as many as the pool has beyond its release threshold.
  [[nodiscard]] std::vector<memory_block> take_surplus();

  /// Of these as many as leave the pool at least `keep_bytes`. Fails with 107000, and takes none, if
  /// that is less than what is in use.
  [[nodiscard]] result<std::vector<memory_block>> trim(std::uint64_t keep_bytes);

  /// All slabs, which then belong to the caller; the pool is empty for good.
  [[nodiscard]] std::vector<memory_block> surrender();

  /// The same, unless blocks are in use: 107000, and nothing changes.
  [[nodiscard]] result<std::vector<memory_block>> surrender_unused();

  /// Whether the pool has surrendered.
  [[nodiscard]] bool given_up() const;

  [[nodiscard]] pool_counters counters() const;

  /// The high-water marks begin again at what is reserved and used now.
  void reset_high_water();

  [[nodiscard]] std::uint64_t cached_bytes() const override;
  [[nodiscard]] context_record& context() const noexcept { return *context_; }

  caf::actor actor; ///< set once, before the record is shared

private:
  // All under the lock.
  [[nodiscard]] bool usable(const cut& place, const timeline& line) const;
  [[nodiscard]] bool free_for(const ticket& work, const timeline& line) const;
  [[nodiscard]] bool follows(const timeline& line, const ticket& work) const;
  [[nodiscard]] static bool over(const cut& place);
  // What a block is made larger by, behind what was asked for.
  [[nodiscard]] std::uint64_t spare_bytes() const noexcept {
    return checker_ != nullptr ? block_watch::guard_bytes : 0;
  }
  [[nodiscard]] bool idle(const slab& each) const;
  std::vector<memory_block> take_idle_while(std::uint64_t above, bool (*gives)(const slab&, std::uint64_t excess));
  std::vector<memory_block> surrender_locked();
  void look_for_surplus(const slab& freed_from) noexcept;
  [[nodiscard]] cut* find_free(std::uint64_t size, const timeline& line) const;
  static void add_earlier(std::vector<earlier>& all, earlier one);
  piece hand_out(cut& place, std::uint64_t bytes, const timeline& line);
  cut* cut_fresh(std::uint64_t size);
  void put_on_shelf(cut& place);
  void take_off_shelf(cut& place);
  void shelve_fresh();
  bool divide_anew(std::uint64_t size);
  void forget_cuts(const slab& each);

  static constexpr std::uint64_t slab_bytes_min = std::uint64_t{2} << 20;
  static constexpr std::size_t search_max = 8; // from each end, while there is fresh memory

  const std::shared_ptr<context_record> context_;
  const pool_options options_;
  witness* const seen_; // null in a live runtime
  memory_checker* const checker_; // commonly null
  mutable std::mutex guard_;
  std::map<std::uint64_t, shelf> free_; // by size class
  shelf spare_;                         // nodes, for the next blocks freed
  std::map<const std::byte*, cut> cuts_;
  std::list<slab> slabs_;
  slab* fresh_slab_ = nullptr;
  std::byte* fresh_ = nullptr; // the untouched rest of that slab
  std::uint64_t fresh_bytes_ = 0;
  bool given_up_ = false;
  pool_counters counters_;
};

} // namespace troupe
