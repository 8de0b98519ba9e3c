#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include <caf/actor.hpp>

#include "actors/device_outage.hpp"
#include "actors/engine_port.hpp"
#include "actors/keeper_handle.hpp"
#include "actors/memory_actor.hpp"
#include "actors/slot_table.hpp"
#include "core/counters.hpp"
#include "core/device_profile.hpp"
#include "core/status.hpp"

namespace troupe {

class address_space;
class command;
class context_record;
class machine;

/// What everyone shares of one device: its profile, the ports of its engines, its memory and how
/// much of its limits is used. The device actor owns the control side; see `device_actor.hpp`.
class device_record {
public:
  device_record(machine& home, std::uint32_t index, device_profile profile);

  // -- observers, any thread --------------------------------------------------

  [[nodiscard]] machine& home() const noexcept { return home_; }
  [[nodiscard]] std::uint32_t index() const noexcept { return index_; }
  [[nodiscard]] const device_profile& profile() const noexcept { return profile_; }
  [[nodiscard]] engine_port& port(engine_kind kind) noexcept {
    return *ports_[static_cast<std::size_t>(kind)];
  }
  [[nodiscard]] slot_table& slots() noexcept { return slots_; }
  [[nodiscard]] device_counters counters() const;

  /// Streams that queue for a slot or an engine or use one, weighed first by how many: the load that "least
  /// loaded" compares.
  [[nodiscard]] std::uint64_t load() const;

  // -- presence ---------------------------------------------------------------

  /// Success, or why the device is not to be used: it was lost, and not yet reset, its memory has
  /// failed, or its work is being aborted.
  [[nodiscard]] status check_present() const {
    return lost_.load(std::memory_order_acquire) ? why_lost() : outage_.check();
  }
  [[nodiscard]] bool lost() const noexcept { return lost_.load(std::memory_order_acquire); }
  [[nodiscard]] device_outage& outage() noexcept { return outage_; }
  [[nodiscard]] device_health health() const noexcept;

  /// The device is gone: it and its contexts refuse everything from now on with `why`, or with what
  /// they refuse it with already. Each loss is to be followed by `drop_work` (see
  /// `context_record::drop_poisoned`), which also lets go whoever waits, and maybe by `come_back`.
  void lose(const status& why);
  void drop_work();
  void come_back();

  /// The actor `who`, one of the two that keep this device, has died: the device is lost with it
  /// until a reset, which has others take their place.
  void keeper_died(keeper_handle& keeper, const actor_base& who);
  void revive_keepers();

  /// The task of `c` has met a fault of the device's memory, `failure`: all contexts refuse
  /// everything with it until an abort and a repair, or a reset.
  void note_memory_fault(const command& c, const status& failure);

  /// Has all contexts refuse everything with `why` and drops their work; success lifts that.
  void tell_contexts(const status& why);

  /// It is back, whatever was still to keep it away: faults have stopped.
  void stay();

  /// Makes a device that is back usable again, once its contexts have ended; else tells why not.
  [[nodiscard]] status restore();

  // -- events -----------------------------------------------------------------

  /// Counts another event. 207007 at the limit.
  [[nodiscard]] status add_event();
  [[nodiscard]] const std::shared_ptr<std::atomic<std::size_t>>& event_counter() const noexcept {
    return events_;
  }
  [[nodiscard]] std::size_t events() const noexcept { return events_->load(); }

  // -- contexts, control: a destroyed one is listed while streams of it have work to end -----

  void add(const std::shared_ptr<context_record>& context);
  void forget(std::uint64_t context_id);
  [[nodiscard]] std::shared_ptr<context_record> find(std::uint64_t context_id) const;
  [[nodiscard]] std::vector<std::shared_ptr<context_record>> contexts() const;

  std::atomic<std::size_t> stream_count = 0;

  std::atomic<unsigned> entering = 0; ///< calls that are about to use the device for the first time
  std::atomic<bool> entered = false;  ///< one of them has

  // Set when the device is opened, before anybody can reach the record, and by `revive_keepers`.
  keeper_handle actor;
  keeper_handle memory_keeper;
  std::shared_ptr<memory_record> memory;

  /// Addresses for what programs map themselves; null until they ask. See `machine::open_space`.
  std::atomic<address_space*> space = nullptr;

  /// Whether `address` is one of those.
  [[nodiscard]] bool maps(const void* address) const noexcept;

  /// Takes `made` for that, once.
  void set_space(std::shared_ptr<address_space> made) noexcept {
    space_kept_ = std::move(made);
    space.store(space_kept_.get(), std::memory_order_release);
  }

private:
  [[nodiscard]] status why_lost() const;

  machine& home_;
  const std::uint32_t index_;
  const device_profile profile_;
  slot_table slots_;
  std::array<std::unique_ptr<engine_port>, engine_kind_count> ports_;
  // Shared with the contexts, whose events may outlive the device.
  const std::shared_ptr<std::atomic<std::size_t>> events_ =
      std::make_shared<std::atomic<std::size_t>>(0);
  device_outage outage_;
  std::atomic<bool> lost_ = false;
  mutable std::mutex guard_; // of all below
  status why_lost_;
  unsigned absences_ = 0; // losses that it has not come back from
  std::vector<keeper_handle*> dead_;
  std::shared_ptr<address_space> space_kept_; // its end is not known here
  std::map<std::uint64_t, std::shared_ptr<context_record>> contexts_;
};

} // namespace troupe
