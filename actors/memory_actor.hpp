#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>

#include <caf/allowed_unsafe_message_type.hpp>

#include "actors/arena.hpp"
#include "actors/scheduling/actor_base.hpp"
#include "actors/scheduling/reply.hpp"
#include "actors/ticket.hpp"
#include "core/backing.hpp"
#include "core/counters.hpp"
#include "core/device_heap.hpp"

namespace troupe {

class machine;

/// What everyone shares of one memory: its address range and its figures. The memory actor owns
/// the books; these figures are published by it after each change and read without a message.
class memory_record {
public:
  memory_record(std::string name, std::uint64_t capacity_bytes);
  ~memory_record(); ///< gives back what it took of the process's budget
  memory_record(const memory_record&) = delete;
  memory_record& operator=(const memory_record&) = delete;

  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  [[nodiscard]] const arena& range() const noexcept { return arena_; }
  [[nodiscard]] memory_info info() const noexcept;
  [[nodiscard]] std::uint64_t allocations() const noexcept { return allocations_.load(); }

private:
  friend class memory_actor;

  const std::string name_;
  arena arena_;
  std::atomic<std::uint64_t> used_ = 0;
  std::atomic<std::uint64_t> largest_hole_ = 0;
  std::atomic<std::uint64_t> high_water_ = 0;
  std::atomic<std::uint64_t> quarantined_ = 0;
  std::atomic<std::uint64_t> backed_ = 0;
  std::atomic<std::uint64_t> allocations_ = 0;
};

/// A block handed out.
struct memory_block {
  std::byte* data = nullptr;
  std::uint64_t bytes = 0; ///< as asked for
};

// -- messages -----------------------------------------------------------------

/// Asks for `bytes` on behalf of the context `owner`. Failures: 107000 for zero bytes, 207001 when
/// the device has no hole that large, 207018 when the process's memory budget is used up.
struct allocate_block {
  std::uint64_t bytes;
  std::uint64_t owner;
  reply<result<memory_block>> answer;
};

/// Gives a block back. It is reused once all of `in_use` has ended; until then it is quarantined.
/// Failures: 107000 for an address that is not the start of a live block of `owner`.
struct free_block {
  std::byte* data;
  std::uint64_t owner;
  frontier in_use;
  reply<status> answer;
};

/// Gives back all blocks of `owner`, each reused once all of `in_use` has ended.
struct free_owner {
  std::uint64_t owner;
  frontier in_use;
  reply<status> answer;
};

/// Reuses what may be reused by now and tells the figures.
struct settle_memory {
  reply<result<memory_info>> answer;
};

// -- the actor ----------------------------------------------------------------

/// The memory of one device, or the host memory of a runtime: heap, backing and quarantine.
class memory_actor : public actor_base {
public:
  memory_actor(caf::actor_config& config, machine& home, std::shared_ptr<memory_record> record,
         std::uint64_t budget_limit_bytes);

private:
  struct quarantined_block {
    std::uint64_t offset;
    frontier in_use;
  };

  caf::behavior handlers() override;

  result<memory_block> strike_or_allocate(const allocate_block& m);
  result<memory_block> allocate(std::uint64_t bytes, std::uint64_t owner);
  std::optional<device_heap::block> take(std::uint64_t bytes, std::uint64_t owner);
  bool back(const device_heap::block& block);
  status free(const free_block& request);
  void free_all(const free_owner& request);
  void quarantine(const device_heap::block& block, const frontier& in_use);
  void release(std::uint64_t offset);
  void sweep(std::size_t at_most);
  void trim();
  void publish();
  [[nodiscard]] std::uint64_t offset_of(const std::byte* data) const;
  [[nodiscard]] status shortage_status(code what, std::uint64_t bytes) const;

  machine& home_;
  const std::shared_ptr<memory_record> record_;
  const std::uint64_t budget_limit_bytes_;
  device_heap heap_;
  backing backing_;
  std::deque<quarantined_block> quarantine_; // oldest look first
  std::uint64_t quarantined_bytes_ = 0;
};

} // namespace troupe

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::allocate_block)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::free_block)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::free_owner)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::settle_memory)
