// The part of a memory's books that looks up the ranges of commands: whose they are, whether they stay
// within one block, and whether anybody else may still touch that.

#include <memory>
#include <string>

#include "actors/memory_record.hpp"

namespace troupe {
namespace {

// The block that this thread's last range lay in, for each side.
struct recent_block {
  std::uint64_t era = 0; // never that of a memory
  std::uint64_t offset = 0;
  std::uint64_t requested = 0;
  std::uint64_t owner = 0;

  [[nodiscard]] bool holds(std::uint64_t from, std::uint64_t bytes) const noexcept {
    const auto before = from - offset; // huge if it begins earlier
    return before < requested && bytes <= requested - before;
  }
};

constinit thread_local recent_block recent_blocks[2];

} // namespace

result<std::uint64_t> memory_record::owner_of(const void* address, std::uint64_t bytes,
                                              const timeline* user, side where) const {
  const auto offset = offset_of(address);
  auto& recent = recent_blocks[static_cast<std::size_t>(where)];
  if (recent.era == era_.load(std::memory_order_acquire) && recent.holds(offset, bytes)) {
    return recent.owner;
  }
  std::shared_ptr<subdivision> by;
  std::uint64_t owner = 0;
  {
    std::shared_lock lock(guard_);
    const auto found = heap_.find(offset);
    if (!found || found->retired) {
      const bool was_in_use = heap_.handed_out(offset);
      lock.unlock();
      return not_in_use(address, bytes, where, was_in_use);
    }
    const auto before = offset - found->offset;
    if (before >= found->requested || bytes > found->requested - before) {
      lock.unlock();
      return overrun(address, bytes, where, *found);
    }
    owner = found->owner;
    const auto slab = slabs_.find(found->offset);
    if (slab == slabs_.end()) {
      recent = {era_.load(std::memory_order_relaxed), found->offset, found->requested, owner};
      return owner;
    }
    by = slab->second.lock();
  }
  if (by) {
    if (auto s = check_part(*by, address, bytes, user, where); !s.ok()) return s;
  }
  return owner;
}

status memory_record::check_part(subdivision& by, const void* address, std::uint64_t bytes,
                                 const timeline* user, side where) const {
  const auto* first = static_cast<const std::byte*>(address);
  const auto part = by.use_part(first, user);
  if (!part || !part->in_use) return not_in_use(address, bytes, where, true);
  if (part->contested) return contested(address, bytes, where);
  const auto before = static_cast<std::uint64_t>(first - part->data);
  if (before < part->bytes && bytes <= part->bytes - before) return {};
  return make_status(code::invalid_parameter,
                     place_of(address, bytes, where) + " leaves the pool's block of " +
                         std::to_string(part->bytes) + " bytes at offset " +
                         std::to_string(offset_of(part->data)) + " that it begins in");
}

status memory_record::check_uncontested(const void* address, std::uint64_t bytes,
                                        side where) const {
  std::shared_ptr<subdivision> by;
  {
    const std::shared_lock lock(guard_);
    const auto found = heap_.find(offset_of(address));
    if (!found) return {};
    const auto slab = slabs_.find(found->offset);
    if (slab != slabs_.end()) by = slab->second.lock();
  }
  const auto part = by ? by->use_part(static_cast<const std::byte*>(address), nullptr)
                       : std::nullopt;
  if (part && part->contested) return contested(address, bytes, where);
  if (!part || !part->early) return {};
  return make_status(code::device_task_abort,
                     place_of(address, bytes, where) +
                         " lies in a pool's block that another stream still uses: the wait for its"
                         " event was dropped by an abort; another block serves");
}

status memory_record::contested(const void* address, std::uint64_t bytes, side where) const {
  return make_status(code::device_task_abort,
                     place_of(address, bytes, where) +
                         " lies in a pool's block that a kernel had before, which was aborted and"
                         " given up on and may still touch it; another block serves");
}

// -- failures -----------------------------------------------------------------

std::string memory_record::place_of(const void* address, std::uint64_t bytes,
                                    side where) const {
  return std::string(where == side::target ? "the target" : "the source") + " range of " +
         std::to_string(bytes) + " bytes at offset " + std::to_string(offset_of(address)) +
         " of the " + name_;
}

status memory_record::not_in_use(const void* address, std::uint64_t bytes, side where,
                                 bool was_in_use) const {
  return make_status(code::invalid_parameter,
                     place_of(address, bytes, where) +
                         (was_in_use ? " begins in memory that has been freed"
                                     : " begins in memory that was never allocated"));
}

status memory_record::overrun(const void* address, std::uint64_t bytes, side where,
                              const device_heap::block& block) const {
  return make_status(code::invalid_parameter,
                     place_of(address, bytes, where) + " leaves the allocation of " +
                         std::to_string(block.requested) + " bytes at offset " +
                         std::to_string(block.offset) + " that it begins in");
}

} // namespace troupe
