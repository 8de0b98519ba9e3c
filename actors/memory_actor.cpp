#include "actors/memory_actor.hpp"

#include <cstddef>
#include <utility>

#include "actors/faults/fault_gate.hpp"
#include "actors/machine.hpp"
#include "actors/scheduling/spawn.hpp"
#include "actors/simulation/witness.hpp"

namespace troupe {
namespace {

// Quarantined blocks looked at per request, so that a handler stays short however many there are.
constexpr std::size_t sweep_per_request = 16;

} // namespace

memory_actor::memory_actor(caf::actor_config& config, machine& home,
                           std::shared_ptr<memory_record> record,
                           std::uint64_t budget_limit_bytes,
                           std::function<void(const actor_base&)> at_death)
    : actor_base(config, lane_id::control, "memory"), home_(home), record_(std::move(record)),
      budget_limit_bytes_(budget_limit_bytes), at_death_(std::move(at_death)) {}

void memory_actor::on_exit() {
  at_death_(*this);
  announce_release(this);
}

caf::behavior memory_actor::handlers() {
  return {
      on<allocate_block>([this](allocate_block& m) {
        record_->sweep(sweep_per_request);
        m.answer(strike_or_allocate(m));
      }),
      on<free_block>([this](free_block& m) {
        record_->sweep(sweep_per_request);
        std::uint64_t quarantined = 0;
        auto outcome = record_->free(m.data, m.owner, m.in_use, quarantined);
        if (quarantined != 0) home_.note_freed_in_use(record_->name(), quarantined, m.in_use);
        m.answer(std::move(outcome));
      }),
      on<settle_memory>([this](settle_memory& m) {
        record_->sweep(SIZE_MAX);
        auto seen = record_->info();
        seen.cached = record_->cached_bytes();
        m.answer(seen);
      }),
  };
}

result<memory_block> memory_actor::strike_or_allocate(const allocate_block& m) {
  auto* gate = home_.gate();
  const auto by = gate != nullptr ? gate->at_allocate(record_->name(), m.owner, m.bytes)
                                  : fault_gate::strike{};
  if (by && by->action.kind == fault_kind::refuse_allocation) {
    return fault_gate::failure(*by, std::to_string(m.bytes) + " bytes of the " + record_->name() +
                                        " were refused");
  }
  auto got = record_->allocate(m.bytes, m.owner, budget_limit_bytes_);
  if (auto* seen = home_.seen(); seen != nullptr && got) {
    seen->handed_out(got.value().data, got.value().bytes);
  }
  return got;
}

void post_free(const caf::actor& keeper, const std::shared_ptr<memory_record>& memory,
               std::byte* data, std::uint64_t owner, const frontier& in_use) {
  const auto made_up_for = [memory, data, owner, in_use](const status& outcome) {
    std::uint64_t quarantined = 0;
    if (!outcome.ok()) (void)memory->free(data, owner, in_use, quarantined);
  };
  post(keeper, free_block{data, owner, in_use, reply<status>(made_up_for)});
}

} // namespace troupe
