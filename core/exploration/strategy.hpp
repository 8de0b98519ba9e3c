#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include <gsl/gsl>

#include "core/exploration/chooser.hpp"

namespace troupe {

class channel_table;
struct schedule_script;

enum class strategy { pct, clog, walk, fifo };

[[nodiscard]] std::string_view to_string(strategy s) noexcept;

/// Everything that decides how one run is explored.
struct strategy_draw {
  strategy kind = strategy::fifo;
  std::uint32_t depth = 1;          ///< of pct; unused by the others
  std::uint64_t expected_steps = 1; ///< of pct and clog: about how long the run will be
  std::uint64_t seed = 0;

  friend bool operator==(const strategy_draw&, const strategy_draw&) = default;
};

/// The strategy for `seed`, in rotation: pct with depth 2, 3 and 4, clog, walk, fifo. No strategy
/// is best for every bug, so consecutive seeds use all of them, the most fruitful first.
/// `expected_steps` is 1 or more; the length of a fifo run of the same program is a good figure.
[[nodiscard]] strategy_draw draw_strategy(std::uint64_t seed, std::uint64_t expected_steps);

/// One line, such as "pct depth=3 steps=60 seed=7"; names only what the strategy uses.
[[nodiscard]] std::string to_string(const strategy_draw& draw);

/// A fresh chooser for one run.
[[nodiscard]] std::unique_ptr<chooser> make_chooser(const strategy_draw& draw);

/// A fresh chooser that replays `script`; see `script_chooser`. `names` must outlive it.
[[nodiscard]] std::unique_ptr<chooser> make_chooser(const schedule_script& script,
                                                    gsl::not_null<const channel_table*> names);

} // namespace troupe
