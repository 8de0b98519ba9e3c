#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include <gsl/gsl>

#include "core/exploration/channel_table.hpp"
#include "core/exploration/chooser.hpp"
#include "core/exploration/schedule_script.hpp"

namespace troupe {

/// First in, first out, except for the items that a script delays.
///
/// An item with a delay of n steps may be chosen once n steps have been taken since it arrived; it
/// holds up its channel meanwhile. If all that is enabled is delayed, the item whose delay ends
/// first is taken early, so a script never stops a run. Fault words change nothing here, nor do
/// entries for items that this run does not have; those are told by `unmet`.
class script_chooser final : public chooser {
public:
  /// `names` is the table of the run, may grow during it, and must outlive the chooser.
  script_chooser(const schedule_script& script, gsl::not_null<const channel_table*> names);

  /// As `chooser::choose`; each choice must have arrived before `step`.
  [[nodiscard]] std::size_t choose(std::span<const choice> enabled, std::uint64_t step) override;
  [[nodiscard]] std::vector<std::string> unmet() const override;
  [[nodiscard]] const char* name() const noexcept override { return "script"; }

private:
  struct lateness {
    std::uint64_t steps = 0;
    bool met = false; // its item was offered
  };
  using delays = std::map<std::uint64_t, lateness>; // by ordinal

  [[nodiscard]] std::uint64_t delay_of(const choice& item);

  gsl::not_null<const channel_table*> names_;
  std::map<std::string, delays, std::less<>> by_name_;
  std::vector<delays*> by_channel_; // what is known of the first channels; null for none
};

} // namespace troupe
