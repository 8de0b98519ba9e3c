// What becomes of copies that have been checked: a command of a stream, or work of the caller's.

#include <algorithm>
#include <functional>
#include <memory>
#include <utility>
#include <variant>
#include <vector>

#include "actors/context_record.hpp"
#include "actors/copy_loop.hpp"
#include "actors/device_record.hpp"
#include "actors/graphs/capture.hpp"
#include "actors/mapped_uses.hpp"
#include "actors/memory_checker.hpp"
#include "actors/simulation/simulation.hpp"
#include "actors/stream_drive.hpp"
#include "actors/stream_record.hpp"
#include "actors/use_table.hpp"
#include "actors/waiting.hpp"
#include "api/src/copy_forms.hpp"
#include "core/graphs/graph_codes.hpp"

namespace troupe {
namespace {

using owner_ids = gsl::span<const std::uint64_t>;

// Tells other contexts whose memory a copy touches.
void note_foreign_use(stream_record& record, owner_ids owners, std::uint64_t number) {
  for (const auto id : owners) {
    if (id == 0 || id == record.context().id()) continue;
    const auto other = record.home().find_context(id);
    if (other) other->note_foreign_use({record.line(), number});
  }
}

// The command has entries of its own, those that move anything.
std::unique_ptr<copy_entry[]> entries_of(const prepared_copy& copy) {
  const auto* from = std::get<in_entries>(copy.payload.form).entries;
  std::size_t count = 0;
  for (std::size_t bytes = 0; bytes < copy.payload.bytes; ++count) bytes += from[count].bytes;
  auto made = std::make_unique<copy_entry[]>(count);
  std::copy_if(from, from + count, made.get(), [](const auto& each) { return each.bytes > 0; });
  return made;
}

command command_of(const prepared_copy& copy, call_site site) {
  command made(command_for(copy.direction), copy.name, site);
  auto payload = copy.payload;
  if (auto* list = std::get_if<in_entries>(&payload.form)) {
    list->entries = entries_of(copy).release();
    made.emplace<copy_payload>(batch_ops, payload);
  } else {
    made.emplace<copy_payload>(copy_ops, payload);
  }
  return made;
}

using leases = std::vector<memory_record::lease>;

bool hold(const machine& home, const void* address, std::size_t bytes, leases& held) {
  auto* memory = home.locate(address).memory;
  if (memory == nullptr) return true;
  const auto owner = memory->owner_of(address, bytes, nullptr, memory_record::side::target);
  if (!owner) return false;
  auto got = memory->lease_of(address, bytes, owner.value());
  if (got) held.push_back(std::move(*got));
  return got.has_value();
}

// One lease for all, if they lie in one block; else one for each.
template <class Address>
bool hold_entries(const machine& home, const prepared_copy& copy, Address address, leases& held) {
  const auto* entry = std::get<in_entries>(copy.payload.form).entries;
  const auto* end = entry;
  const std::byte* low = nullptr;
  const std::byte* high = nullptr;
  for (std::size_t bytes = 0; bytes < copy.payload.bytes; bytes += end->bytes, ++end) {
    if (end->bytes == 0) continue;
    const auto* first = static_cast<const std::byte*>(address(*end));
    low = low == nullptr || std::less<>()(first, low) ? first : low;
    high = high == nullptr || std::less<>()(high, first + end->bytes) ? first + end->bytes : high;
  }
  const auto extent = static_cast<std::size_t>(high - low);
  const bool one_memory = home.locate(low).memory == home.locate(high - 1).memory;
  if (one_memory && home.locate(low).memory != nullptr && hold(home, low, extent, held)) {
    return true;
  }
  for (; entry != end; ++entry) {
    if (entry->bytes > 0 && !hold(home, address(*entry), entry->bytes, held)) return false;
  }
  return true;
}

bool hold_all(const machine& home, const prepared_copy& copy, leases& held) {
  const auto& payload = copy.payload;
  if (std::holds_alternative<in_entries>(payload.form)) {
    const auto target = [](const copy_entry& each) -> const void* { return each.target; };
    const auto source = [](const copy_entry& each) { return each.source; };
    return hold_entries(home, copy, target, held) && hold_entries(home, copy, source, held);
  }
  return hold(home, payload.target, copy.target_extent, held) &&
         (payload.source == nullptr || hold(home, payload.source, copy.source_extent, held));
}

// Some address on the device whose engine the copy stands in for.
const void* device_address(const prepared_copy& copy) {
  const bool from = copy.direction == copy_kind::device_to_host;
  const auto* list = std::get_if<in_entries>(&copy.payload.form);
  if (list == nullptr) return from ? copy.payload.source : copy.payload.target;
  const auto* entry = list->entries;
  while (entry->bytes == 0) ++entry;
  return from ? entry->source : entry->target;
}

// Returns when the copy touches the caller's memory no more; why it was dropped, if it was.
status await_copy(stream_record& record, std::uint64_t number) {
  auto& room = record.home().room();
  auto& line = *record.line();
  auto end = wait_for_number(room, line, number, never_ns);
  // An engine may be in the middle of it, for one chunk more: the memory is not the caller's yet.
  while (line.completed() + 1 == number && end != wait_end::let_go) {
    end = wait_for_number(room, line, number, never_ns);
  }
  if (end == wait_end::let_go) {
    auto hangs = room.why_let_go();
    record.abort(); // of the memory, which is the caller's from now on, nothing is touched
    return hangs;
  }
  // It has ended; but ended as well is what an abort or a failure in stop mode dropped.
  return line.state_of(number) == ticket_state::reached ? status{} : record.why_dropped();
}

} // namespace

status check_direction(copy_kind kind, copy_kind direction) {
  if (direction == copy_kind::host_to_host) {
    return make_status(code::not_supported, "a copy from host to host has no place in a stream");
  }
  if (kind == copy_kind::automatic || kind == direction) return {};
  return make_status(code::invalid_parameter, "a copy of kind " + to_string(kind) +
                                                  " between addresses that are " +
                                                  to_string(direction));
}

status run_in_stream(stream_record& record, const prepared_copy& copy, call_site site) {
  return submit_copy(record, command_of(copy, site), copy.owners, copy.pinned);
}

status submit_copy(stream_record& record, command&& made, owner_ids owners, bool returns_at_once) {
  if (auto s = check_mapped(record.home(), record.context().id(), made); !s.ok()) return s;
  if (capture::any()) {
    if (!returns_at_once && capture::look(record).status != capture_status::none) {
      return make_status(graph_codes::capture_would_block,
                         "a copy with ordinary host memory would block, and stream " +
                             std::to_string(record.id()) + " captures");
    }
    if (auto taken = capture::take(record, made)) return *taken;
  }
  const auto& line = record.line();
  // Noted before the copy can run, by the least number it may get, and then by its own.
  note_foreign_use(record, owners, line->submitted() + 1);
  std::uint64_t number = 0;
  if (auto s = record.submit(std::move(made), &number); !s.ok()) return s;
  note_foreign_use(record, owners, number);
  if (returns_at_once) return {};
  return await_copy(record, number);
}

status run_here(machine& home, std::uint64_t context, const prepared_copy& copy) {
  mapped_uses mapped;
  use_table::uses counted;
  if (home.memory_looks() != 0) {
    const auto made = command_of(copy, {});
    if (auto s = counted.begin(home, made); !s.ok()) return s;
    if (auto s = mapped.hold(home, context, made); !s.ok()) return s;
    if (home.checks_memory()) check_uses(home, made, 0);
  }
  leases held;
  if (!hold_all(home, copy, held)) {
    return make_status(code::invalid_parameter, "memory was freed as its copy began");
  }
  auto payload = copy.payload;
  while (payload.done < payload.bytes) copy_chunk(payload, home.copy_chunk_bytes());
  if (copy.direction == copy_kind::host_to_host) return {};
  home.locate(device_address(copy))
      .device->port(engine_for(command_for(copy.direction)))
      .count_elsewhere(1, payload.bytes);
  return {};
}

} // namespace troupe
