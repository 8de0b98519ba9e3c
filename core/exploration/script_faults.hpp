#pragma once

#include <optional>
#include <string>

#include "core/exploration/schedule_script.hpp"
#include "core/faults/fault_plan.hpp"
#include "core/faults/fault_report.hpp"

namespace troupe {

// Faults in a schedule script: what befalls the n-th item of a channel, whose name tells the point
// as well (`fault_channel`). The word is the kind, and what it takes after '=' by turns of name and
// value, as JSON has them: "drop", "delay=ms=5", "corrupt=bytes=4=detected=true".

/// The faults that struck, each as an entry of its own: channel, number and word. So a plan that
/// strikes by chance, or by what happened elsewhere, becomes one whose entries can be taken away.
/// Nothing if there are more than a plan can hold.
[[nodiscard]] std::optional<std::vector<schedule_entry>> script_of(const fault_report& faults);

/// What a script holds that leaves out all faults of a plan: "faults #1 none".
[[nodiscard]] schedule_entry no_faults();

/// The faults of `script` as a plan, each entry named as the script writes it; an empty plan for a
/// script with `no_faults` alone, and nothing for one that says nothing about faults. Fails with
/// `invalid_parameter`, naming the entry, for a word that means nothing, or nothing there.
[[nodiscard]] result<std::optional<fault_plan>> plan_of(const schedule_script& script);

} // namespace troupe
