#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>

#include "core/command.hpp"
#include "core/device_profile.hpp"
#include "core/status.hpp"

namespace troupe {

/// How long work takes where time is simulated, in nanoseconds of device time. A plain value.
///
/// - A kernel: what is declared for its name; else `launch_ns` plus the bytes of its spans over the
///   profile's memory bandwidth (a kernel that is bound by memory, the roofline's left half).
/// - A copy: `copy_setup_ns`, once, plus its bytes over the profile's link bandwidth, or over the
///   memory bandwidth within a device.
/// - A host callback: `callback_ns`.
///
/// The three constants are of the order of real devices, not measured.
struct cost_model {
  /// Work that never completes.
  static constexpr std::int64_t never = INT64_MAX;

  std::int64_t launch_ns = 5'000;
  std::int64_t copy_setup_ns = 2'000;
  std::int64_t callback_ns = 10'000;
  std::map<std::string, std::int64_t, std::less<>> kernels; ///< by name

  /// `invalid_parameter` for a cost below 0, naming it.
  [[nodiscard]] status validate() const;

  [[nodiscard]] std::int64_t kernel_ns(const device_profile& profile, const command& c) const;

  /// `begins` says that these are a copy's first bytes.
  [[nodiscard]] std::int64_t copy_ns(const device_profile& profile, bool within_device,
                                     std::uint64_t bytes, bool begins) const;
};

} // namespace troupe
