#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "core/device_health.hpp"
#include "core/status.hpp"

namespace troupe {

using abort_hook = std::function<void(abort_phase)>;

/// Why a device that is there takes no work: its memory has failed, or all its work is being
/// aborted; see `device_health` for the states. And who wants to be called around such an abort. Any
/// thread.
class device_outage {
public:
  static constexpr std::size_t hooks_max = 64;

  explicit device_outage(std::uint32_t device) : device_(device) {}

  /// `usable`, `faulted`, `aborting` or `aborted`.
  [[nodiscard]] device_health state() const noexcept {
    return state_.load(std::memory_order_acquire);
  }

  /// Success, or why the device takes no work.
  [[nodiscard]] status check() const {
    return state() == device_health::usable ? status{} : trouble();
  }

  /// The memory has failed; false if it had before, or an abort is under way.
  bool fault(memory_fault what);
  [[nodiscard]] std::optional<memory_fault> details() const;

  /// An abort begins; 107022 if one is under way or has ended and waits for the repair.
  [[nodiscard]] status begin_abort();
  void end_abort(bool complete);

  /// The device is to be usable again: 107000 unless a fault was followed by an abort.
  [[nodiscard]] status repair();
  void reset();

  /// A hook under a name that is not taken; a null one takes the hook of that name away. 107000 for
  /// a name that is taken, or for null not known; 207012 at the limit.
  [[nodiscard]] status set_hook(const std::string& name, abort_hook hook);

  /// Calls the hooks, in the order of their names, under no lock. The first failure that one threw.
  [[nodiscard]] status call_hooks(abort_phase phase) const;

private:
  [[nodiscard]] status trouble() const;

  const std::uint32_t device_;
  std::atomic<device_health> state_ = device_health::usable;
  mutable std::mutex guard_; // of all below
  std::optional<memory_fault> fault_;
  std::map<std::string, abort_hook> hooks_;
};

} // namespace troupe
