#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include <caf/actor.hpp>

#include "actors/engine_port.hpp"
#include "actors/memory_actor.hpp"
#include "core/counters.hpp"
#include "core/device_profile.hpp"
#include "core/status.hpp"

namespace troupe {

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
  [[nodiscard]] device_counters counters() const;

  /// Streams that queue for or use an engine, weighed first by how many: the load that "least
  /// loaded" compares.
  [[nodiscard]] std::uint64_t load() const;

  // -- presence ---------------------------------------------------------------

  /// Success, or why the device is not to be used: it was lost, and not yet reset.
  [[nodiscard]] status check_present() const {
    return lost_.load(std::memory_order_acquire) ? why_lost() : status{};
  }

  /// The device is gone: it and its contexts refuse everything from now on with `why`, or with what
  /// they refuse it with already. Each loss is to be followed by `drop_work` (see
  /// `context_record::drop_poisoned`), which also lets go whoever waits, and maybe by `come_back`.
  void lose(const status& why);
  void drop_work();
  void come_back();

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

  // Set once when the device is opened, before anybody can reach the record.
  caf::actor actor;
  caf::actor memory_keeper;
  std::shared_ptr<memory_record> memory;

private:
  [[nodiscard]] status why_lost() const;

  machine& home_;
  const std::uint32_t index_;
  const device_profile profile_;
  std::array<std::unique_ptr<engine_port>, engine_kind_count> ports_;
  // Shared with the contexts, whose events may outlive the device.
  const std::shared_ptr<std::atomic<std::size_t>> events_ =
      std::make_shared<std::atomic<std::size_t>>(0);
  std::atomic<bool> lost_ = false;
  mutable std::mutex guard_; // of all below
  status why_lost_;
  unsigned absences_ = 0; // losses that it has not come back from
  std::map<std::uint64_t, std::shared_ptr<context_record>> contexts_;
};

} // namespace troupe
