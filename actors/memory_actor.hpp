#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include <caf/actor.hpp>
#include <caf/allowed_unsafe_message_type.hpp>

#include "actors/memory_record.hpp"
#include "actors/scheduling/actor_base.hpp"
#include "actors/scheduling/reply.hpp"
#include "actors/ticket.hpp"

namespace troupe {

class machine;
class temporary_record;

// -- messages -----------------------------------------------------------------

/// Asks for `bytes` on behalf of the context `owner`. Failures: 100000 for zero bytes, 207001 when
/// the context may not use as much, the device has no hole that large or the host refuses to back the block, 207018 when the
/// process's memory budget is used up, also after all memories of the process have given up the
/// backing that they do not need.
struct allocate_block {
  std::uint64_t bytes;
  std::uint64_t owner;
  reply<result<memory_block>> answer;
  page_kind pages = page_kind::small;
};

/// Gives a block back. It is reused once all of `in_use` has ended; until then it is quarantined.
/// Failures: 107000 for an address that is not the start of a live block of `owner`.
struct free_block {
  std::byte* data;
  std::uint64_t owner;
  frontier in_use;
  reply<status> answer;
};

/// Reuses what may be reused by now and tells the figures.
struct settle_memory {
  reply<result<memory_info>> answer;
};

// -- the actor ----------------------------------------------------------------

/// The memory of one device, or the host memory of a runtime: serves requests, one after another.
class memory_actor : public actor_base {
public:
  /// `at_death` is called with the actor itself as it ends.
  memory_actor(caf::actor_config& config, machine& home, std::shared_ptr<memory_record> record,
               std::uint64_t budget_limit_bytes,
               std::function<void(const actor_base&)> at_death);

  void on_exit() override;

  [[nodiscard]] const char* state_word() const override {
    return record_->has_quarantine() ? "with quarantine" : "in order";
  }

private:
  caf::behavior handlers() override;

  result<memory_block> strike_or_allocate(const allocate_block& m);
  result<memory_block> allocate(const allocate_block& m);
  bool release_temporary(const allocate_block& m, const status& lacking);
  void look_after_temporaries();
  void vacate(temporary_record& one);

  machine& home_;
  const std::shared_ptr<memory_record> record_;
  const std::uint64_t budget_limit_bytes_;
  const std::function<void(const actor_base&)> at_death_;
};

/// Gives the block at `data` of `memory`, which `keeper` keeps, back as by `free_block`; nobody waits
/// for it. If the message gets lost or the keeper has died, the books alone see to it.
void post_free(const caf::actor& keeper, const std::shared_ptr<memory_record>& memory,
               std::byte* data, std::uint64_t owner, const frontier& in_use);

} // namespace troupe

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::allocate_block)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::free_block)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::settle_memory)
