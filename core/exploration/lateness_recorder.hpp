#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/exploration/channel_table.hpp"
#include "core/exploration/choice.hpp"
#include "core/exploration/schedule_script.hpp"

namespace troupe {

/// Watches a run under any strategy and says how late each item was, as a script.
///
/// An item is late when something was chosen that fifo would have put behind it. Its delay reaches
/// to the last step at which that happened, and no further; an item that never was passed over
/// needs none. So a long stretch of one channel while another waits is one entry.
///
/// The replay is exact. At each step the chosen item's delay has passed, since it ends with the
/// last step at which that item was passed over; of the others, those that fifo prefers to it are
/// passed over at this very step, so they are still delayed, and fifo prefers it to the rest. Hence
/// `script_chooser` takes the same choice, and by induction every later one. This needs no more
/// than what makes a replay possible at all:
/// - what a step does depends on the choices taken so far and on nothing else;
/// - both runs number their steps alike, and each offered item has `arrived` < step;
/// - a channel's name does not depend on anything outside the run.
/// After the last recorded step the replay goes on in its own way. If faults were injected, they
/// are part of what makes the run: whoever injected them adds their entries to the script.
///
/// One owner at a time; constant cost for an offered item.
class lateness_recorder {
public:
  /// Notes that `enabled[chosen]` was taken in step `step`. Steps with one enabled choice may be
  /// left out; all others are fed in order.
  void record(std::span<const choice> enabled, std::size_t chosen, std::uint64_t step);

  /// The delays of everything recorded so far, oldest item first, under the names of `names`.
  [[nodiscard]] schedule_script script(const channel_table& names) const;

private:
  struct lateness {
    choice item;
    std::uint64_t passed_over = 0; // the last step at which it was, or 0
  };

  std::vector<lateness> heads_; // by channel: the item offered last
  std::vector<lateness> late_;  // items that are no longer heads
};

} // namespace troupe
