#pragma once

#include <cstdint>
#include <memory>

#include "core/counters.hpp"
#include "core/device_profile.hpp"
#include "core/status.hpp"
#include "troupe/context.hpp"
#include "troupe/handles.hpp"

namespace troupe {

/// What a device can compute, from its profile and its counters.
struct compute_info {
  unsigned cores = 0;
  unsigned clock_khz = 0;
  double peak_flops = 0; ///< FLOP/s of the profile
  double utilisation = 0; ///< share of the compute engines' time in use since the start, 0 to 1
};

/// One device of a runtime. A light handle; any thread. One that was moved from is empty: its calls
/// fail with 107017 and its figures are zero.
class device {
public:
  device(std::shared_ptr<machine> home, device_record* record) noexcept
      : home_(std::move(home)), record_(record) {}

  [[nodiscard]] std::uint32_t index() const noexcept;
  [[nodiscard]] const device_profile& profile() const noexcept;

  /// A context of the caller's own. Failures: 207005 at the device's limit of streams, 507010 while
  /// the device is lost, 100001 after shutdown, 207000 inside kernels and callbacks.
  [[nodiscard]] result<context> create_context(const context_options& options = {}) const;

  /// Figures of the device's memory, after reuse of what may be reused by now.
  [[nodiscard]] result<memory_info> memory() const;

  /// Ends all contexts of the device, the primary one included: drops their work, gives their
  /// memory back and waits until that is done. A device that was lost (507010) and is back is usable
  /// again after this, and after nothing else. Failures: 507010 if it is still gone; 107019 and
  /// others if a context did not end, and a further call goes on; 207000 inside kernels and
  /// callbacks.
  [[nodiscard]] status reset() const;

  [[nodiscard]] compute_info compute() const;
  [[nodiscard]] device_counters counters() const;

private:
  std::shared_ptr<machine> home_;
  device_record* record_;
};

} // namespace troupe
