#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/exploration/choice.hpp"

namespace troupe {

/// Decides what happens next in a simulated run: a strategy of exploration.
///
/// A chooser is asked once a step and keeps state from one step to the next, so it serves one run.
/// Its answers are a function of its seed and of what it was offered; two runs of one program
/// under choosers made alike are therefore equal, if the simulation offers in an order that itself
/// depends on nothing else (by channel number, say). One owner at a time.
class chooser {
public:
  virtual ~chooser() = default;

  /// The index in `enabled` of what is to happen in step number `step`. `enabled` holds at most one
  /// choice of a channel and is never empty; `step` grows from call to call.
  [[nodiscard]] virtual std::size_t choose(std::span<const choice> enabled, std::uint64_t step) = 0;

  /// Of a script: its delays of items that no step has offered so far, as the script writes them.
  [[nodiscard]] virtual std::vector<std::string> unmet() const { return {}; }

  /// The strategy in a word, for reports.
  [[nodiscard]] virtual const char* name() const noexcept = 0;
};

} // namespace troupe
