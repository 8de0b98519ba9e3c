#include "core/exploration/strategy.hpp"

#include "core/exploration/clog_chooser.hpp"
#include "core/exploration/pct_chooser.hpp"
#include "core/exploration/plain_choosers.hpp"
#include "core/exploration/script_chooser.hpp"

namespace troupe {

std::string_view to_string(strategy s) noexcept {
  switch (s) {
    case strategy::pct: return "pct";
    case strategy::clog: return "clog";
    case strategy::walk: return "walk";
    case strategy::fifo: return "fifo";
  }
  return "unnamed_strategy";
}

strategy_draw draw_strategy(std::uint64_t seed, std::uint64_t expected_steps) {
  Expects(expected_steps > 0);
  constexpr std::uint32_t depths = 3; // 2, 3, 4
  constexpr strategy others[] = {strategy::clog, strategy::walk, strategy::fifo};
  const auto turn = gsl::narrow_cast<std::uint32_t>(seed % (depths + std::size(others)));
  if (turn < depths) return {strategy::pct, 2 + turn, expected_steps, seed};
  return {gsl::at(others, turn - depths), 1, expected_steps, seed};
}

std::string to_string(const strategy_draw& draw) {
  std::string text(to_string(draw.kind));
  if (draw.kind == strategy::pct) text += " depth=" + std::to_string(draw.depth);
  if (draw.kind == strategy::pct || draw.kind == strategy::clog)
    text += " steps=" + std::to_string(draw.expected_steps);
  if (draw.kind != strategy::fifo) text += " seed=" + std::to_string(draw.seed);
  return text;
}

std::unique_ptr<chooser> make_chooser(const strategy_draw& draw) {
  switch (draw.kind) {
    case strategy::pct:
      return std::make_unique<pct_chooser>(draw.seed, draw.depth, draw.expected_steps);
    case strategy::clog: return std::make_unique<clog_chooser>(draw.seed, draw.expected_steps);
    case strategy::walk: return std::make_unique<walk_chooser>(draw.seed);
    case strategy::fifo: break;
  }
  return std::make_unique<fifo_chooser>();
}

std::unique_ptr<chooser> make_chooser(const schedule_script& script,
                                      gsl::not_null<const channel_table*> names) {
  return std::make_unique<script_chooser>(script, names);
}

} // namespace troupe
