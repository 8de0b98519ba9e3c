#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace troupe {

/// Why one step of a run could happen.
struct cause_link {
  std::uint64_t step = 0;    ///< steps grow from link to link
  std::uint64_t cause = 0;   ///< the earlier step that sent the message, set the timer, began the
                             ///< work or ended the wait that this step is about; 0: the beginning
  std::uint32_t channel = 0; ///< on which it happened
};

/// The places in `links` of the steps that led to step `from`, or to the last one before it: each
/// sent what the next one is about; oldest first. Steps whose cause is a step of their own channel,
/// as when a client goes on from call to call, stand for that one too. At most `steps_max`, the
/// latest.
[[nodiscard]] std::vector<std::size_t> causal_chain(std::span<const cause_link> links,
                                                    std::uint64_t from, std::size_t steps_max);

} // namespace troupe
