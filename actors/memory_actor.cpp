#include "actors/memory_actor.hpp"

#include <algorithm>

#include "actors/faults/fault_gate.hpp"
#include "actors/machine.hpp"

namespace troupe {
namespace {

// Quarantined blocks looked at per request, so that a handler stays short however many there are.
constexpr std::size_t sweep_per_request = 16;

} // namespace

memory_record::memory_record(std::string name, std::uint64_t capacity_bytes)
    : name_(std::move(name)), arena_(capacity_bytes), largest_hole_(capacity_bytes) {}

memory_record::~memory_record() { memory_budget::release(backed_.load()); }

memory_info memory_record::info() const noexcept {
  memory_info seen;
  seen.total = arena_.bytes();
  seen.used = used_.load(std::memory_order_relaxed);
  seen.free = seen.total - seen.used;
  seen.largest_hole = largest_hole_.load(std::memory_order_relaxed);
  seen.high_water = high_water_.load(std::memory_order_relaxed);
  seen.quarantined = quarantined_.load(std::memory_order_relaxed);
  seen.backed = backed_.load(std::memory_order_relaxed);
  return seen;
}

memory_actor::memory_actor(caf::actor_config& config, machine& home,
                           std::shared_ptr<memory_record> record,
                           std::uint64_t budget_limit_bytes)
    : actor_base(config, lane_id::control, "memory"), home_(home), record_(std::move(record)),
      budget_limit_bytes_(budget_limit_bytes), heap_(record_->range().bytes()),
      backing_(heap_.capacity()) {}

caf::behavior memory_actor::handlers() {
  return {
      on<allocate_block>([this](allocate_block& m) {
        sweep(sweep_per_request);
        auto made = strike_or_allocate(m);
        publish();
        m.answer(std::move(made));
      }),
      on<free_block>([this](free_block& m) {
        sweep(sweep_per_request);
        auto outcome = free(m);
        publish();
        m.answer(std::move(outcome));
      }),
      on<free_owner>([this](free_owner& m) {
        free_all(m);
        publish();
        m.answer(status{});
      }),
      on<settle_memory>([this](settle_memory& m) {
        sweep(quarantine_.size());
        publish();
        m.answer(record_->info());
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
  return allocate(m.bytes, m.owner);
}

// -- allocation ---------------------------------------------------------------

result<memory_block> memory_actor::allocate(std::uint64_t bytes, std::uint64_t owner) {
  if (bytes == 0) {
    return make_status(code::bad_argument, "an allocation of 0 bytes on " + record_->name() +
                                               "; the least is 1");
  }
  const auto found = take(bytes, owner);
  if (!found) return shortage_status(code::memory_allocation, bytes);
  if (!back(*found)) {
    (void)heap_.free(found->offset);
    return shortage_status(code::device_out_of_memory, bytes);
  }
  record_->allocations_.fetch_add(1, std::memory_order_relaxed);
  return memory_block{record_->range().base() + found->offset, bytes};
}

std::optional<device_heap::block> memory_actor::take(std::uint64_t bytes, std::uint64_t owner) {
  auto found = heap_.allocate(bytes, owner);
  if (!found && !quarantine_.empty()) {
    sweep(quarantine_.size());
    found = heap_.allocate(bytes, owner);
  }
  return found;
}

// Charges the budget for what the block newly backs; under shortage first gives back what this
// memory holds without need.
bool memory_actor::back(const device_heap::block& block) {
  auto charge = backing_.charge_for(block.offset, block.size);
  if (charge > 0 && !memory_budget::charge(charge, budget_limit_bytes_)) {
    trim();
    charge = backing_.charge_for(block.offset, block.size);
    if (charge > 0 && !memory_budget::charge(charge, budget_limit_bytes_)) return false;
  }
  if (charge == 0) return true;
  // Whole granules, as that is what the books mark as backed: the next block in them opens nothing.
  const auto granule = backing_.granule_bytes();
  const auto first = block.offset / granule * granule;
  if (!record_->arena_.open(first, block.offset + block.size + granule - 1 - first)) {
    memory_budget::release(charge);
    return false;
  }
  backing_.commit(block.offset, block.size);
  return true;
}

void memory_actor::trim() {
  std::uint64_t returned = 0;
  for (const auto& each : backing_.release_free(heap_)) {
    record_->arena_.discard(each.offset, each.size);
    returned += each.size;
  }
  memory_budget::release(returned);
}

status memory_actor::shortage_status(code what, std::uint64_t bytes) const {
  const auto figures = heap_.current_figures();
  error_record record;
  record.what = what;
  if (what == code::memory_allocation) {
    record.message = record_->name() + " has no room for " + std::to_string(bytes) +
                     " bytes: used " + std::to_string(figures.used) + " of " +
                     std::to_string(figures.capacity) + ", largest hole " +
                     std::to_string(figures.largest_hole);
    record.lacking = shortage{record_->name(), bytes, figures.used, figures.capacity};
  } else {
    const auto charged = memory_budget::charged();
    record.message = "the process's memory budget has no room for " + std::to_string(bytes) +
                     " bytes on " + record_->name() + ": charged " + std::to_string(charged) +
                     " of " + std::to_string(budget_limit_bytes_) +
                     " (option memory_budget_fraction or memory_budget_bytes)";
    record.lacking = shortage{"memory budget", bytes, charged, budget_limit_bytes_};
  }
  return status(std::move(record));
}

// -- release ------------------------------------------------------------------

std::uint64_t memory_actor::offset_of(const std::byte* data) const {
  return static_cast<std::uint64_t>(data - record_->range().base());
}

status memory_actor::free(const free_block& request) {
  if (!record_->range().contains(request.data)) {
    return make_status(code::invalid_parameter, "the address is not in " + record_->name());
  }
  const auto offset = offset_of(request.data);
  const auto found = heap_.find(offset);
  const auto waits = std::any_of(quarantine_.begin(), quarantine_.end(),
                                 [offset](const auto& each) { return each.offset == offset; });
  if (!found || waits) {
    return make_status(code::invalid_parameter, "the address at offset " + std::to_string(offset) +
                                                    " of " + record_->name() +
                                                    " is not in use: freed already?");
  }
  if (found->offset != offset) {
    return make_status(code::invalid_parameter,
                       "the address is " + std::to_string(offset - found->offset) +
                           " bytes into a block of " + record_->name() + ", not its start");
  }
  if (found->owner != request.owner) {
    return make_status(code::invalid_parameter,
                       "the block belongs to context " + std::to_string(found->owner) +
                           ", not to context " + std::to_string(request.owner));
  }
  if (all_ended(request.in_use)) {
    release(offset);
  } else {
    home_.note_freed_in_use(record_->name(), found->requested, request.in_use);
    quarantine(*found, request.in_use);
  }
  return {};
}

void memory_actor::release(std::uint64_t offset) {
  const auto outcome = heap_.free(offset).outcome;
  Ensures(outcome == device_heap::free_outcome::freed);
}

void memory_actor::quarantine(const device_heap::block& block, const frontier& in_use) {
  quarantined_bytes_ += block.size;
  quarantine_.push_back({block.offset, in_use});
}

void memory_actor::free_all(const free_owner& request) {
  sweep(quarantine_.size());
  const auto listed = [this](std::uint64_t offset) {
    return std::any_of(quarantine_.begin(), quarantine_.end(),
                       [offset](const auto& each) { return each.offset == offset; });
  };
  const bool idle = all_ended(request.in_use);
  for (const auto& each : heap_.blocks_of(request.owner)) {
    if (listed(each.offset)) continue;
    if (idle) {
      release(each.offset);
    } else {
      quarantine(each, request.in_use);
    }
  }
}

void memory_actor::sweep(std::size_t at_most) {
  for (auto left = std::min(at_most, quarantine_.size()); left > 0; --left) {
    auto entry = std::move(quarantine_.front());
    quarantine_.pop_front();
    if (all_ended(entry.in_use)) {
      quarantined_bytes_ -= heap_.find(entry.offset)->size;
      release(entry.offset);
    } else {
      quarantine_.push_back(std::move(entry)); // looked at again after all others
    }
  }
}

void memory_actor::publish() {
  const auto figures = heap_.current_figures();
  record_->used_.store(figures.used, std::memory_order_relaxed);
  record_->largest_hole_.store(figures.largest_hole, std::memory_order_relaxed);
  record_->high_water_.store(figures.used_high_water, std::memory_order_relaxed);
  record_->quarantined_.store(quarantined_bytes_, std::memory_order_relaxed);
  record_->backed_.store(backing_.backed_bytes(), std::memory_order_relaxed);
}

} // namespace troupe
