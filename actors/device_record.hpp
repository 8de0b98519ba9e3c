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

  // -- events -----------------------------------------------------------------

  /// One of the device's events: given back when the last copy goes. 207007 when none is left.
  [[nodiscard]] result<std::shared_ptr<void>> take_event_slot();
  [[nodiscard]] std::size_t events() const noexcept { return events_->load(); }

  // -- contexts, control ------------------------------------------------------

  void add(const std::shared_ptr<context_record>& context);
  void forget(std::uint64_t context_id);
  [[nodiscard]] std::shared_ptr<context_record> find(std::uint64_t context_id) const;
  [[nodiscard]] std::vector<std::shared_ptr<context_record>> contexts() const;

  /// The contexts that were destroyed and still have streams; kept where messages may get lost.
  [[nodiscard]] std::vector<std::shared_ptr<context_record>> ending() const;

  std::atomic<std::size_t> stream_count = 0;

  // Set once when the device is opened, before anybody can reach the record.
  caf::actor actor;
  caf::actor memory_keeper;
  std::shared_ptr<memory_record> memory;

private:
  machine& home_;
  const std::uint32_t index_;
  const device_profile profile_;
  std::array<std::unique_ptr<engine_port>, engine_kind_count> ports_;
  // Shared with the slots, which may outlive the device.
  const std::shared_ptr<std::atomic<std::size_t>> events_ =
      std::make_shared<std::atomic<std::size_t>>(0);
  mutable std::mutex guard_;
  std::map<std::uint64_t, std::shared_ptr<context_record>> contexts_;
  std::vector<std::weak_ptr<context_record>> ending_;
};

} // namespace troupe
