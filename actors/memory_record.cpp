#include "actors/memory_record.hpp"

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <vector>

#include "actors/process.hpp"

namespace troupe {
namespace {

// All memories of the process that may be asked to give up backing.
class memory_list {
public:
  void add(const std::shared_ptr<memory_record>& one) {
    const std::lock_guard lock(guard_);
    std::erase_if(all_, [](const auto& each) { return each.expired(); });
    all_.push_back(one);
  }

  [[nodiscard]] std::vector<std::shared_ptr<memory_record>> all() const {
    std::vector<std::shared_ptr<memory_record>> found;
    const std::lock_guard lock(guard_);
    for (const auto& each : all_) {
      if (auto one = each.lock()) found.push_back(std::move(one));
    }
    return found;
  }

private:
  mutable std::mutex guard_;
  std::vector<std::weak_ptr<memory_record>> all_; // in the order of their making
};

memory_list& memories() {
  static auto& all = *new memory_list;
  return all;
}

std::atomic<std::uint64_t> last_era = 0;

status host_refusal(std::uint64_t bytes, const std::string& name, int reason) {
  error_record record;
  record.what = code::memory_allocation;
  record.message = "the host refuses to back " + std::to_string(bytes) + " bytes of the " + name +
                   ": " + std::generic_category().message(reason) +
                   " (a limit of the process, as RLIMIT_DATA, or of the system)";
  record.lacking = shortage{"host memory", bytes, memory_budget::charged(), host_memory_bytes()};
  return status(std::move(record));
}

} // namespace

memory_record::memory_record(std::string name, std::uint64_t capacity_bytes)
    : name_(std::move(name)), made_in_process_(fork_generation()), arena_(capacity_bytes),
      heap_(arena_.bytes()), backing_(heap_.capacity()), era_(last_era.fetch_add(1) + 1) {}

memory_record::~memory_record() { memory_budget::release(backing_.backed_bytes()); }

std::shared_ptr<memory_record> memory_record::create(std::string name,
                                                     std::uint64_t capacity_bytes) {
  auto made = std::make_shared<memory_record>(std::move(name), capacity_bytes);
  memories().add(made);
  return made;
}

// -- observers ----------------------------------------------------------------

std::uint64_t memory_record::offset_of(const void* address) const noexcept {
  return static_cast<std::uint64_t>(static_cast<const std::byte*>(address) - arena_.base());
}

std::optional<memory_record::lease> memory_record::lease_of(const void* address,
                                                            std::uint64_t bytes,
                                                            std::uint64_t owner) {
  const std::lock_guard lock(guard_);
  const auto offset = offset_of(address);
  const auto found = heap_.find(offset);
  if (!found || found->retired || found->owner != owner) return std::nullopt;
  const auto before = offset - found->offset;
  if (before >= found->requested || bytes > found->requested - before) return std::nullopt;
  leases_.push_back(found->offset);
  return lease(*this, found->offset);
}

void memory_record::end_lease(std::uint64_t offset) {
  const std::lock_guard lock(guard_);
  leases_.erase(std::find(leases_.begin(), leases_.end(), offset));
  if (is_leased(offset)) return;
  const auto waiting = quarantine_.find(offset);
  if (waiting == quarantine_.end()) return;
  if (may_be_reused(*heap_.find(offset), waiting->second)) leave_quarantine(waiting);
}

bool memory_record::is_leased(std::uint64_t offset) const {
  return std::find(leases_.begin(), leases_.end(), offset) != leases_.end();
}

bool memory_record::touched_by_none(std::uint64_t offset, const frontier& in_use) const {
  return all_ended(in_use) && !is_leased(offset);
}

// A block that nobody may touch any more is handed out again, in checked mode after a rest.
bool memory_record::may_be_reused(const device_heap::block& block, const frontier& in_use) {
  if (!touched_by_none(block.offset, in_use)) return false;
  if (!checker_ || block.owner == 0) return true;
  return checker_->rested(arena_.base() + block.offset, block.size, block.owner);
}

void memory_record::end_rest() {
  if (checker_) checker_->end_rest();
}

// -- allocation ---------------------------------------------------------------

result<memory_block> memory_record::allocate(std::uint64_t bytes, std::uint64_t owner,
                                             std::uint64_t budget_limit_bytes,
                                             page_kind pages) {
  if (bytes == 0) {
    return make_status(code::bad_argument, "an allocation of 0 bytes on " + name_ +
                                               "; the least is 1");
  }
  auto limited = check_limit(bytes, owner, pages);
  if (!limited.ok() && pages == page_kind::huge_first) {
    pages = page_kind::small;
    limited = check_limit(bytes, owner, pages);
  }
  if (!limited.ok()) return limited;
  const auto found = take(bytes, owner, pages);
  if (!found) return no_room(bytes, pages);
  if (auto s = back(*found, budget_limit_bytes); !s.ok()) {
    const std::lock_guard lock(guard_);
    release(found->offset);
    return s;
  }
  allocations_.fetch_add(1, std::memory_order_relaxed);
  auto* data = arena_.base() + found->offset;
  // What belongs to no context stands for memory that is used at other addresses.
  if (checker_ && owner != 0) checker_->hand_out(data, found->size, bytes, owner);
  return memory_block{data, bytes};
}

std::optional<device_heap::block> memory_record::take(std::uint64_t bytes, std::uint64_t owner,
                                                      page_kind pages) {
  const std::lock_guard lock(guard_);
  auto found = find_room(bytes, owner, pages);
  if (!found && !quarantine_.empty()) {
    end_rest();
    sweep_locked(quarantine_.size());
    found = find_room(bytes, owner, pages);
  }
  if (!found && pages == page_kind::huge_first) found = find_room(bytes, owner, page_kind::small);
  if (found) accounts_.add(owner, found->size, bytes);
  return found;
}

std::optional<device_heap::block> memory_record::find_room(std::uint64_t bytes,
                                                           std::uint64_t owner, page_kind pages) {
  const auto spare = checker_ && owner != 0 ? block_watch::guard_bytes : 0;
  return pages == page_kind::small ? heap_.allocate(bytes, owner, spare)
                                   : heap_.allocate_pages(bytes, huge_page_bytes, owner, spare);
}

// Charges the budget for what the block newly backs and opens it. Meanwhile others may trim, but
// no granule that the block touches, as the heap has it as taken.
status memory_record::back(const device_heap::block& block, std::uint64_t limit) {
  std::uint64_t cost = 0;
  {
    const std::shared_lock lock(guard_);
    cost = backing_.charge_for(block.offset, block.size);
  }
  if (cost == 0) return {};
  if (!charge(cost, limit)) return no_budget(block.requested, limit);
  // Whole granules, as that is what the books mark as backed: the next block in them opens nothing.
  const auto granule = backing_.granule_bytes();
  const auto first = block.offset / granule * granule;
  if (!arena_.open(first, block.offset + block.size + granule - 1 - first)) {
    const auto reason = errno;
    memory_budget::release(cost);
    return host_refusal(block.requested, name_, reason);
  }
  const std::lock_guard lock(guard_);
  backing_.commit(block.offset, block.size);
  return {};
}

// Under shortage this memory first gives up what it holds without need, then all others of the
// process do, one after another and no more than is missing. No lock of this one is held meanwhile.
bool memory_record::charge(std::uint64_t bytes, std::uint64_t limit) {
  if (memory_budget::charge(bytes, limit)) return true;
  if (bytes > limit) return false;
  const auto missing = [=] {
    const auto room = limit - std::min(limit, memory_budget::charged());
    return bytes - std::min(bytes, room);
  };
  trim(missing());
  if (memory_budget::charge(bytes, limit)) return true;
  for (const auto& each : memories().all()) {
    if (each.get() == this) continue;
    each->trim(missing());
    if (memory_budget::charge(bytes, limit)) return true;
  }
  return false;
}

status memory_record::no_room(std::uint64_t bytes, page_kind pages) const {
  const auto seen = info();
  error_record record;
  record.what = code::memory_allocation;
  record.message = name_ + " has no room for " + std::to_string(bytes) +
                   (pages == page_kind::huge_only ? " bytes on huge pages: used " : " bytes: used ") +
                   std::to_string(seen.used) + " of " + std::to_string(seen.total) +
                   ", largest hole " + std::to_string(seen.largest_hole);
  record.lacking = shortage{name_, bytes, seen.used, seen.total};
  return status(std::move(record));
}

status memory_record::no_budget(std::uint64_t bytes, std::uint64_t limit) const {
  const auto charged = memory_budget::charged();
  error_record record;
  record.what = code::device_out_of_memory;
  record.message = "the process's memory budget has no room for " + std::to_string(bytes) +
                   " bytes on " + name_ + ": charged " + std::to_string(charged) + " of " +
                   std::to_string(limit) +
                   " (option memory_budget_fraction or memory_budget_bytes)";
  record.lacking = shortage{"memory budget", bytes, charged, limit};
  return status(std::move(record));
}

void memory_record::attach(const std::byte* data, std::weak_ptr<subdivision> by) {
  const std::lock_guard lock(guard_);
  add_divider(offset_of(data), by);
  slabs_.insert_or_assign(offset_of(data), std::move(by));
  begin_era();
  const auto slab = heap_.find(offset_of(data));
  if (checker_ && slab) checker_->forget(data, slab->size); // who divides it tells of its parts
}

// -- release ------------------------------------------------------------------

status memory_record::free(const std::byte* data, std::uint64_t owner, const frontier& in_use,
                           std::uint64_t& quarantined) {
  if (!arena_.contains(data)) {
    return make_status(code::invalid_parameter, "the address is not in " + name_);
  }
  const auto offset = offset_of(data);
  const std::lock_guard lock(guard_);
  const auto found = heap_.find(offset);
  if (!found || quarantine_.contains(offset)) {
    return make_status(code::invalid_parameter, "the address at offset " + std::to_string(offset) +
                                                    " of " + name_ +
                                                    " is not in use: freed already?");
  }
  if (found->offset != offset) {
    return make_status(code::invalid_parameter,
                       "the address is " + std::to_string(offset - found->offset) +
                           " bytes into a block of " + name_ + ", not its start");
  }
  if (found->owner != owner) {
    return make_status(code::invalid_parameter,
                       "the block belongs to context " + std::to_string(found->owner) +
                           ", not to context " + std::to_string(owner));
  }
  if (may_be_reused(*found, in_use)) {
    release(offset);
  } else {
    if (!touched_by_none(offset, in_use)) quarantined = found->requested;
    quarantine(*found, in_use);
  }
  return {};
}

void memory_record::release(std::uint64_t offset) {
  const auto [outcome, block] = heap_.free(offset);
  Ensures(outcome == device_heap::free_outcome::freed);
  accounts_.remove(block.owner, block.size, block.requested);
  slabs_.erase(offset);
  raw_.erase(offset);
  begin_era();
}

void memory_record::begin_era() {
  era_.store(last_era.fetch_add(1, std::memory_order_relaxed) + 1, std::memory_order_release);
}

void memory_record::quarantine(const device_heap::block& block, const frontier& in_use) {
  heap_.retire(block.offset);
  slabs_.erase(block.offset);
  raw_.erase(block.offset);
  begin_era();
  accounts_.quarantine(block.owner, block.size);
  quarantined_bytes_ += block.size;
  quarantine_.emplace(block.offset, in_use);
}

void memory_record::leave_quarantine(std::map<std::uint64_t, frontier>::iterator at) {
  const auto offset = at->first;
  quarantine_.erase(at);
  const auto block = heap_.find(offset);
  accounts_.leave_quarantine(block->owner, block->size);
  quarantined_bytes_ -= block->size;
  release(offset);
}

void memory_record::free_all(std::uint64_t owner, const frontier& in_use) {
  const std::lock_guard lock(guard_);
  sweep_locked(quarantine_.size());
  for (const auto& each : heap_.blocks_of(owner)) {
    if (quarantine_.contains(each.offset)) continue;
    if (may_be_reused(each, in_use)) {
      release(each.offset);
    } else {
      quarantine(each, in_use);
    }
  }
  accounts_.close(owner);
}

void memory_record::sweep(std::size_t at_most) {
  const std::lock_guard lock(guard_);
  sweep_locked(at_most);
}

// Goes on where the last look ended, so that every block has its turn.
void memory_record::sweep_locked(std::size_t at_most) {
  for (auto left = std::min(at_most, quarantine_.size()); left > 0; --left) {
    auto at = quarantine_.lower_bound(sweep_from_);
    if (at == quarantine_.end()) at = quarantine_.begin();
    sweep_from_ = at->first + 1;
    if (may_be_reused(*heap_.find(at->first), at->second)) leave_quarantine(at);
  }
}

void memory_record::retire(const std::byte* data, std::uint64_t owner) {
  const std::lock_guard lock(guard_);
  const auto found = heap_.find(offset_of(data));
  if (!found || found->owner != owner) return;
  heap_.retire(offset_of(data));
  begin_era();
}

void memory_record::trim(std::uint64_t wanted_bytes) {
  // What a parent process left behind may be locked for ever, and is not this process's to give.
  if (wanted_bytes == 0 || made_in_process_ != fork_generation()) return;
  const std::lock_guard lock(guard_);
  end_rest();
  sweep_locked(quarantine_.size());
  trim_locked(wanted_bytes);
}

void memory_record::trim_locked(std::uint64_t wanted_bytes) {
  std::uint64_t returned = 0;
  for (const auto& each : backing_.release_free(heap_, wanted_bytes)) {
    if (checker_) checker_->forget(arena_.base() + each.offset, each.size);
    arena_.discard(each.offset, each.size);
    returned += each.size;
  }
  memory_budget::release(returned);
}

// -- the end ------------------------------------------------------------------

// Pages stay accessible: a client thread may be in the middle of a blocking copy.
void memory_record::end(still_used rest) {
  const std::lock_guard lock(guard_);
  end_rest();
  sweep_locked(quarantine_.size());
  if (rest == still_used::nothing) {
    if (checker_) checker_->clear();
    heap_ = device_heap(arena_.bytes());
    accounts_ = {};
    raw_.clear();
    quarantine_.clear();
    quarantined_bytes_ = 0;
    slabs_.clear();
    begin_era();
  } else if (rest == still_used::blocks) {
    for (const auto& each : heap_.blocks_of(0)) {
      if (each.retired && !quarantine_.contains(each.offset)) release(each.offset);
    }
  }
  ended_ = rest != still_used::retired;
  trim_locked(UINT64_MAX);
}

void memory_record::free_after_end(const std::byte* data) {
  if (made_in_process_ != fork_generation()) return;
  const std::lock_guard lock(guard_);
  const auto offset = offset_of(data);
  if (quarantine_.contains(offset)) return;
  heap_.retire(offset);
  begin_era();
  if (!ended_) return; // the end sees to it
  const auto [outcome, block] = heap_.free(offset);
  if (outcome == device_heap::free_outcome::freed) {
    accounts_.remove(block.owner, block.size, block.requested);
  }
  trim_locked(UINT64_MAX);
}

} // namespace troupe
