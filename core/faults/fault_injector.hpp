#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include <gsl/gsl>

#include "core/faults/fault_plan.hpp"
#include "core/faults/fault_report.hpp"
#include "core/faults/fault_site.hpp"

namespace troupe {

/// Decides, for every place where something is about to happen, whether a fault of the plan strikes
/// there, and keeps the account. It does nothing itself: who asked carries the action out.
///
/// Any thread. A decision by chance, or by the ordinal on a channel, depends on the plan and the
/// site alone and is the same however threads interleave. What counts across channels (`times`, an
/// `ordinal` without a channel, the numbers of activations) depends on the order of the calls, and
/// so repeats where that order does.
class fault_injector {
public:
  static constexpr std::size_t activations_max = 10'000;

  // -- constructors -----------------------------------------------------------

  /// `plan` must be valid (`fault_plan::validate`).
  explicit fault_injector(fault_plan plan);

  fault_injector(const fault_injector&) = delete;
  fault_injector& operator=(const fault_injector&) = delete;

  // -- deciding ---------------------------------------------------------------

  /// The fault that strikes at `site`, which must name its channel and an ordinal from 1: that of
  /// the first entry which fits and may fire. A point that no entry picks, and a site that none
  /// fits, cost no lock.
  [[nodiscard]] std::optional<fault_activation> decide(const fault_site& site);

  // -- observers --------------------------------------------------------------

  [[nodiscard]] const fault_plan& plan() const noexcept { return plan_; }

  /// True if some entry picks `point`: lets a caller skip the making of a site.
  [[nodiscard]] bool watches(fault_point point) const noexcept {
    return !by_point_[static_cast<std::size_t>(point)].empty();
  }

  /// What has happened so far. Of activations the first `activations_max` are kept, all counted.
  [[nodiscard]] fault_report report() const;

private:
  /// An entry made ready to be compared.
  struct armed_entry {
    std::size_t index = 0;
    std::int64_t from_ns = 0;
    std::int64_t until_ns = 0;
  };

  struct tally {
    std::uint64_t matched = 0;
    std::uint64_t fired = 0;
  };

  [[nodiscard]] bool fits(const armed_entry& armed, const fault_site& site) const;
  [[nodiscard]] bool fires(const armed_entry& armed, const fault_site& site,
                           const tally& count) const;
  [[nodiscard]] std::uint64_t seed_of(std::size_t index, const fault_site& site) const;
  [[nodiscard]] fault_activation activate(std::size_t index, const fault_site& site);

  const fault_plan plan_;
  std::array<std::vector<armed_entry>, fault_point_count> by_point_; ///< fixed once constructed

  mutable std::mutex guard_; ///< of all below
  std::vector<tally> tallies_;
  std::vector<fault_activation> activations_;
  std::uint64_t fired_ = 0;
};

/// Flips one bit in each of `activation.action.bytes` different bytes (in all, if there are fewer),
/// the same ones for equal activations. `activation` must be of kind `corrupt`. Returns the number
/// of bytes flipped. The bytes must be the caller's alone meanwhile.
std::size_t corrupt_bytes(gsl::span<std::byte> bytes, const fault_activation& activation);

} // namespace troupe
