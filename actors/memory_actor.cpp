#include "actors/memory_actor.hpp"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>

#include "actors/faults/fault_gate.hpp"
#include "actors/machine.hpp"
#include "actors/scheduling/spawn.hpp"
#include "actors/simulation/witness.hpp"
#include "actors/temporary_record.hpp"
#include "actors/use_table.hpp"

namespace troupe {
namespace {

// Quarantined blocks looked at per request, so that a handler stays short however many there are.
constexpr std::size_t sweep_per_request = 16;

// The index of the device whose memory this is; nothing for the host's.
std::optional<std::uint32_t> device_of(machine& home, const memory_record& memory) {
  for (std::uint32_t i = 0; i < home.device_count(); ++i) {
    if (home.device_at(i).memory.get() == &memory) return i;
  }
  return std::nullopt;
}

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
        look_after_temporaries();
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
        look_after_temporaries();
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
  auto got = allocate(m);
  if (auto* seen = home_.seen(); seen != nullptr && got) {
    seen->handed_out(got.value().data, got.value().bytes);
  }
  return got;
}

// -- temporary blocks ---------------------------------------------------------

// Under shortage those that nothing pending uses make room, one after another.
result<memory_block> memory_actor::allocate(const allocate_block& m) {
  auto got = record_->allocate(m.bytes, m.owner, budget_limit_bytes_, m.pages);
  while (!got && release_temporary(m, got.error())) {
    got = record_->allocate(m.bytes, m.owner, budget_limit_bytes_, m.pages);
  }
  return got;
}

// Whether one more is gone: the context's own before those of others. None is released for what would
// not fit even without all of them.
bool memory_actor::release_temporary(const allocate_block& m, const status& lacking) {
  if ((home_.memory_looks() & machine::memory_look::counted) == 0) return false;
  const bool short_of_memory = lacking.code() == code::memory_allocation ||
                               lacking.code() == code::device_out_of_memory;
  if (!short_of_memory || !lacking.record() || !lacking.record()->lacking) return false;
  const auto device = device_of(home_, *record_);
  if (!device) return false;
  const auto& what = *lacking.record()->lacking;
  const bool of_context = what.resource == "context memory";
  const auto free = what.limit - std::min(what.limit, what.used);
  if (free + home_.uses().releasable_bytes(*device, of_context ? m.owner : 0) < what.asked) {
    return false;
  }
  auto one = home_.uses().release_one(*device, m.owner);
  if (!one && !of_context) one = home_.uses().release_one(*device, 0);
  if (one) vacate(*one);
  return one != nullptr;
}

void memory_actor::look_after_temporaries() {
  if ((home_.memory_looks() & machine::memory_look::counted) == 0) return;
  for (const auto& each : home_.uses().take_dropped()) vacate(*each);
}

// What its context's end has taken back already is somebody else's, which the owner tells.
void memory_actor::vacate(temporary_record& one) {
  auto* block = one.vacate();
  if (block == nullptr) return;
  if (one.device().memory == record_) {
    std::uint64_t quarantined = 0;
    (void)record_->free(block, one.owner(), {}, quarantined);
  } else {
    post_free(one.device().memory_keeper, one.device().memory, block, one.owner(), {});
  }
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
