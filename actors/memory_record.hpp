#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <string>
#include <utility>
#include <vector>

#include "actors/arena.hpp"
#include "actors/memory_checker.hpp"
#include "actors/ticket.hpp"
#include "core/backing.hpp"
#include "core/call_site.hpp"
#include "core/counters.hpp"
#include "core/device_heap.hpp"
#include "core/memory_accounts.hpp"
#include "core/page_kind.hpp"
#include "core/status.hpp"

namespace troupe {

/// A block handed out.
struct memory_block {
  std::byte* data = nullptr;
  std::uint64_t bytes = 0; ///< as asked for
};

/// Who hands out parts of a block, as a pool does of its slabs. Any thread.
class subdivision {
public:
  struct part {
    std::byte* data = nullptr;
    std::uint64_t bytes = 0; ///< as asked for
    bool in_use = false;
    bool contested = false; ///< work that was given up on may still touch it
    bool early = false;     ///< work before has not ended that a stream was to come after by a wait
  };

  virtual ~subdivision() = default;

  /// What it holds of all its blocks and has not handed out.
  [[nodiscard]] virtual std::uint64_t cached_bytes() const = 0;

  /// The part at `address`, which `user` (if not null) is about to use.
  [[nodiscard]] virtual std::optional<part> use_part(const std::byte* address,
                                                     const timeline* user) = 0;
};

/// What everyone shares of one memory: its address range and its books, which say what is handed
/// out, to whom, what of it the host backs, and what waits in quarantine. The memory actor serves
/// requests one after another; others only look things up, or take back backing that nothing needs
/// when the process's budget runs out. The lock is held for a look at the books, never for a wait.
class memory_record : public std::enable_shared_from_this<memory_record> {
public:
  static constexpr std::uint64_t huge_page_bytes = std::uint64_t{2} << 20;

  memory_record(std::string name, std::uint64_t capacity_bytes);
  ~memory_record(); ///< gives back what it took of the process's budget
  memory_record(const memory_record&) = delete;
  memory_record& operator=(const memory_record&) = delete;

  /// A memory that gives up backing when others of this process have none left.
  [[nodiscard]] static std::shared_ptr<memory_record> create(std::string name,
                                                             std::uint64_t capacity_bytes);

  /// Watches its blocks from now on. Once, before any is handed out.
  void check_by(std::unique_ptr<memory_checker> checker) noexcept { checker_ = std::move(checker); }

  // -- observers, any thread --------------------------------------------------

  /// Who watches its blocks; null in runtimes without the option `checked_memory`.
  [[nodiscard]] memory_checker* checker() const noexcept { return checker_.get(); }

  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  [[nodiscard]] const arena& range() const noexcept { return arena_; }
  [[nodiscard]] memory_info info() const;
  [[nodiscard]] bool has_quarantine() const;
  [[nodiscard]] std::uint64_t allocations() const noexcept { return allocations_.load(); }

  /// What is cached in parts that others handed out: of all, or of `owner`'s.
  [[nodiscard]] std::uint64_t cached_bytes(std::optional<std::uint64_t> owner = {}) const;

  /// What `owner` has.
  [[nodiscard]] context_memory info_of(std::uint64_t owner) const;

  /// Which range of a command is looked up.
  enum class side : unsigned char { target, source };

  /// Whose the range is: the tag of the one block in use that holds all of [address, address +
  /// bytes), `bytes` above zero. A pool is told that `user` uses its block, if that is not null.
  /// Failures: 107000 when the range leaves its block, or begins in none. A range that is looked up
  /// again and again costs no lock.
  [[nodiscard]] result<std::uint64_t> owner_of(const void* address, std::uint64_t bytes,
                                               const timeline* user, side where) const;

  /// Success, or 107022 if `address` is in a pool's block that a kernel had before, which may still
  /// touch it: it was given up on, or the wait for its end was dropped. For work that is about to run.
  [[nodiscard]] status check_uncontested(const void* address, std::uint64_t bytes,
                                         side where) const;

  /// Keeps the block around a range from being reused, however it is freed, while a client thread
  /// touches that itself. Moves; any thread. The memory must outlive it.
  class lease {
  public:
    lease() noexcept = default;
    lease(lease&& other) noexcept { swap(other); }
    lease& operator=(lease&& other) noexcept {
      lease(std::move(other)).swap(*this);
      return *this;
    }
    ~lease() {
      if (memory_ != nullptr) memory_->end_lease(offset_);
    }

  private:
    friend class memory_record;
    lease(memory_record& memory, std::uint64_t offset) noexcept
        : memory_(&memory), offset_(offset) {}
    void swap(lease& other) noexcept {
      std::swap(memory_, other.memory_);
      std::swap(offset_, other.offset_);
    }

    memory_record* memory_ = nullptr;
    std::uint64_t offset_ = 0;
  };

  /// A lease of the block of `owner` that all of [address, address + bytes) is in; nothing if there
  /// is none in use.
  [[nodiscard]] std::optional<lease> lease_of(const void* address, std::uint64_t bytes,
                                              std::uint64_t owner);

  // -- blocks, the memory actor -----------------------------------------------

  /// See `allocate_block`. 207018 beyond `budget_limit_bytes`.
  result<memory_block> allocate(std::uint64_t bytes, std::uint64_t owner,
                                std::uint64_t budget_limit_bytes,
                                page_kind pages = page_kind::small);

  /// See `free_block`. The block's size goes to `quarantined` if it is not free at once.
  status free(const std::byte* data, std::uint64_t owner, const frontier& in_use,
              std::uint64_t& quarantined);

  /// Frees every block of `owner`, which is about to end; what `in_use` or a lease covers goes to
  /// quarantine until that has ended.
  void free_all(std::uint64_t owner, const frontier& in_use);

  /// Looks at `at_most` quarantined blocks and frees those whose work has ended.
  void sweep(std::size_t at_most);

  // -- owners, any thread -----------------------------------------------------

  /// `owner` may occupy no more than `bytes` from now on; 0: as much as there is.
  void limit(std::uint64_t owner, std::uint64_t bytes);

  // -- blocks by address, any thread ------------------------------------------

  /// The block of `owner` at `data`, unless it has been freed, was allocated at `site` by somebody
  /// who keeps nothing but its address.
  void note_raw(const std::byte* data, std::uint64_t owner, call_site site);

  /// Takes the block at `address`, which was noted so, from its users: it is to be freed next, by
  /// the caller and nobody else. Answers with its owner. 107000 for any other address: never
  /// allocated, freed, within a block, or of somebody who frees it himself.
  [[nodiscard]] result<std::uint64_t> claim_raw(const void* address);

  /// The blocks noted so that `owner` has not freed.
  struct raw_block {
    std::uint64_t bytes = 0; ///< as asked for
    call_site site;
  };
  [[nodiscard]] std::vector<raw_block> raw_blocks_of(std::uint64_t owner) const;

  // -- blocks, any thread -----------------------------------------------------

  /// Has the block at `data` handed out in parts by `by`, as long as both live.
  void attach(const std::byte* data, std::weak_ptr<subdivision> by);

  /// `owner` is done with its block at `data`, which is freed next: new uses are refused.
  void retire(const std::byte* data, std::uint64_t owner);

  /// Gives up to `wanted_bytes` of backing that no block needs back to the host and the budget.
  void trim(std::uint64_t wanted_bytes);

  // -- the end ----------------------------------------------------------------

  /// What somebody may still touch after the end of the runtime.
  enum class still_used : unsigned char {
    nothing,
    blocks,  ///< those not retired: the host reads its pinned memory for as long as it holds it
    retired, ///< these too: a thread has not come back from user code
  };

  /// After the last actor and engine of the runtime: gives back what nobody can touch any more.
  void end(still_used rest);

  /// As `free` once the runtime has ended and its actor is gone.
  void free_after_end(const std::byte* data);

private:
  [[nodiscard]] std::uint64_t offset_of(const void* address) const noexcept;
  [[nodiscard]] std::string place_of(const void* address, std::uint64_t bytes,
                                     side where) const;
  [[nodiscard]] status not_in_use(const void* address, std::uint64_t bytes, side where,
                                  bool was_in_use) const;
  [[nodiscard]] status overrun(const void* address, std::uint64_t bytes, side where,
                               const device_heap::block& block) const;
  [[nodiscard]] status contested(const void* address, std::uint64_t bytes, side where) const;
  [[nodiscard]] status check_part(subdivision& by, const void* address, std::uint64_t bytes,
                                  const timeline* user, side where) const;
  [[nodiscard]] std::optional<device_heap::block> take(std::uint64_t bytes, std::uint64_t owner,
                                                       page_kind pages);
  [[nodiscard]] std::optional<device_heap::block> find_room(std::uint64_t bytes,
                                                            std::uint64_t owner, page_kind pages);
  [[nodiscard]] status check_limit(std::uint64_t bytes, std::uint64_t owner, page_kind pages);
  status back(const device_heap::block& block, std::uint64_t limit);
  bool charge(std::uint64_t bytes, std::uint64_t limit);
  [[nodiscard]] status no_room(std::uint64_t bytes, page_kind pages) const;
  [[nodiscard]] status no_budget(std::uint64_t bytes, std::uint64_t limit) const;
  void end_lease(std::uint64_t offset);
  // Under the lock.
  [[nodiscard]] bool is_leased(std::uint64_t offset) const;
  [[nodiscard]] bool touched_by_none(std::uint64_t offset, const frontier& in_use) const;
  [[nodiscard]] bool may_be_reused(const device_heap::block& block, const frontier& in_use);
  void end_rest();
  void add_divider(std::uint64_t offset, const std::weak_ptr<subdivision>& by);
  void begin_era();
  void quarantine(const device_heap::block& block, const frontier& in_use);
  void leave_quarantine(std::map<std::uint64_t, frontier>::iterator at);
  void sweep_locked(std::size_t at_most);
  void trim_locked(std::uint64_t wanted_bytes);
  void release(std::uint64_t offset);

  const std::string name_;
  const std::uint32_t made_in_process_;
  arena arena_;
  std::atomic<std::uint64_t> allocations_ = 0;
  mutable std::shared_mutex guard_;
  device_heap heap_;
  backing backing_;
  std::map<std::uint64_t, frontier> quarantine_; // by offset
  std::uint64_t sweep_from_ = 0;                 // where the next look at the quarantine begins
  std::uint64_t quarantined_bytes_ = 0;
  std::vector<std::uint64_t> leases_; // their blocks' offsets: few, one for a thread and side
  std::map<std::uint64_t, std::weak_ptr<subdivision>> slabs_; // by offset
  struct divider {
    std::uint64_t owner;
    std::weak_ptr<subdivision> who;
  };
  std::vector<divider> dividers_;          // few: those behind the slabs, each once
  std::map<std::uint64_t, call_site> raw_; // by offset; see note_raw
  memory_accounts accounts_;
  std::unique_ptr<memory_checker> checker_; // commonly null
  bool ended_ = false;
  // A number of its own for each state in which the same blocks are in use, or more than before:
  // what a thread has found in it stays true while it lasts.
  std::atomic<std::uint64_t> era_;
};

} // namespace troupe
