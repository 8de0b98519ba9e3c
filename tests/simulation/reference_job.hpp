#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "troupe/testing.hpp"
#include "troupe/troupe.hpp"

namespace troupe {

/// The job that every single fault is tried on: 300 tasks on four streams over two devices, each
/// device with a context of its own; events between the streams of a context, copies, pool blocks,
/// host callbacks, and an abort at the end. It goes on after failures as a careful program would,
/// and compares what it got with a sequential model.
class reference_job {
public:
  static constexpr std::size_t sides = 2;       ///< devices, a context each
  static constexpr int rounds = 25;             ///< a round: three tasks on each of two streams
  static constexpr std::size_t elements = 64;

  /// What became of one context.
  struct side {
    std::uint64_t context = 0;
    std::vector<status> failures;      ///< everything that any call said but success
    std::array<std::vector<std::int64_t>, 2> results;
    bool complete = false;             ///< all results were copied out, and all said success
    bool usable_after = false;         ///< a small job passed after the end
    std::uint64_t used_after = 0;      ///< bytes of the device still in use at the end
    std::size_t streams_after = 0;     ///< streams of the device still there
  };

  void run(testing::stage& play);

  /// What is wrong, by what was promised: right bytes, or a failure told in the context that the
  /// fault hit; nothing in the other; everything usable and given back. Empty if all is well.
  [[nodiscard]] std::string verdict(const testing::simulation_report& report) const;

  [[nodiscard]] const std::array<side, sides>& outcome() const noexcept { return sides_; }

private:
  void play_side(testing::stage& play, std::size_t index);
  void rounds_on(side& seen, testing::stage& play, context& ctx);
  void end_side(side& seen, testing::stage& play, context& ctx, device& dev);
  static void bring_back(side& seen, const testing::stage& play, const device& dev);
  static void look_for_rests(side& seen, const device& dev);

  std::array<side, sides> sides_;
};

} // namespace troupe
