#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <gsl/gsl>

#include "core/code.hpp"
#include "core/faults/fault_site.hpp"

namespace troupe {

/// What a fault does to what it hits.
enum class fault_kind : unsigned char {
  delay,
  hold_until,
  drop,
  duplicate,
  fail_at_submit,
  fail_at_execution,
  never_complete,
  slow,
  corrupt,
  refuse_allocation,
  kill_actor,
  reorder,
  pause_actor,
  restart_actor,
  lose_device,
};

inline constexpr std::size_t fault_kind_count = 15;

/// A kind with its parameters. One flat value for all kinds, as it is read from and written to a
/// table; a parameter that the kind does not take keeps its default, which `fault_plan::validate`
/// holds. The factories below give each kind exactly what it takes.
struct fault_action {
  fault_kind kind = fault_kind::delay;
  double ms = 0;                               ///< delay, pause_actor; lose_device: 0: for good
  double until_ms = 0;                         ///< hold_until, pause_actor: since the runtime began
  double factor = 1;                           ///< slow: times the usual duration
  std::uint64_t bytes = 1;                     ///< corrupt: how many get a flipped bit
  bool detected = false;                       ///< corrupt: reported as an ECC error, else silent
  bool adversarial = false;                    ///< reorder: also where an order is promised
  troupe::code code = troupe::code::success;   ///< success: the usual one of the kind

  [[nodiscard]] static fault_action delay(double ms);
  [[nodiscard]] static fault_action hold_until(double until_ms);
  [[nodiscard]] static fault_action drop();
  [[nodiscard]] static fault_action duplicate();
  [[nodiscard]] static fault_action fail_at_submit(troupe::code what = troupe::code::success);
  [[nodiscard]] static fault_action fail_at_execution(troupe::code what = troupe::code::success);
  [[nodiscard]] static fault_action never_complete();
  [[nodiscard]] static fault_action slow(double factor);
  [[nodiscard]] static fault_action corrupt(std::uint64_t bytes, bool detected);
  [[nodiscard]] static fault_action refuse_allocation(troupe::code what = troupe::code::success);
  [[nodiscard]] static fault_action kill_actor();
  [[nodiscard]] static fault_action reorder(bool adversarial = false);
  [[nodiscard]] static fault_action pause_actor(double ms);
  [[nodiscard]] static fault_action restart_actor();
  [[nodiscard]] static fault_action lose_device(double ms = 0);

  /// The code that the victim must report: `code`, or the usual one of the kind, or `success` for a
  /// kind that causes no failure by itself.
  [[nodiscard]] troupe::code outcome() const noexcept;

  friend bool operator==(const fault_action&, const fault_action&) = default;
};

/// The kind and what it takes, for a human: "delay for 5 ms", "corrupt 1 byte, silent".
[[nodiscard]] std::string describe(const fault_action& action);

/// What holds for all actions of one kind: the row of the table that validation and documentation
/// work from.
struct fault_kind_rule {
  std::string_view name;
  std::string_view needs;                ///< parameter that must be given; empty: none
  std::array<std::string_view, 2> takes; ///< parameters that may be given; empty: none
  fault_point_set points;                ///< at which the runtime carries the action out
  troupe::code usual_code;
  std::string_view help;

  [[nodiscard]] bool makes_sense_at(fault_point point) const noexcept {
    return contains(points, point);
  }
  [[nodiscard]] bool knows(std::string_view parameter) const noexcept {
    return !parameter.empty() &&
           (parameter == needs || parameter == takes[0] || parameter == takes[1]);
  }
};

[[nodiscard]] const fault_kind_rule& rule_of(fault_kind kind);

/// The names of the kinds, in the order of the enumerators. Any thread; they live for ever.
[[nodiscard]] gsl::span<const std::string_view> fault_kind_names() noexcept;

[[nodiscard]] std::string_view to_string(fault_kind kind) noexcept;

/// The kinds that make sense at `point`: "drop, fail_at_submit".
[[nodiscard]] std::string actions_at(fault_point point);

/// A time of a plan as the runtime counts it, rounded to the next nanosecond.
[[nodiscard]] std::int64_t to_ns(double ms);

} // namespace troupe
