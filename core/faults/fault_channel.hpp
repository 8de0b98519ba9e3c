#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <gsl/gsl>

#include "core/faults/fault_site.hpp"
#include "core/status.hpp"

namespace troupe {

struct fault_pick;

/// The name of a channel, taken apart; the forms are in the README of this folder.
struct fault_channel {
  fault_point point = fault_point::message;
  std::string_view role;   ///< of an actor, in the channel's text
  std::string_view engine; ///< in the channel's text
  std::optional<std::uint64_t> stream;
  std::optional<std::uint64_t> device;
};

/// Nothing if no point has a channel of such a name. The result borrows `name`.
[[nodiscard]] std::optional<fault_channel> parse_fault_channel(std::string_view name);

/// All forms, as one text: "to ROLE ID, client>stream S, ...".
[[nodiscard]] std::string fault_channel_forms();

/// The calls of clients that an actor answers: what `operation` may be at `reply`. Any thread; they
/// live for ever.
[[nodiscard]] gsl::span<const std::string_view> fault_call_names() noexcept;

/// `invalid_parameter` if the pick can never fit: its channel has another point's form, contradicts
/// device, stream, engine or context, or is to an actor that understands no such message; its
/// message is none that an actor understands, or its operation at `reply` no call that is answered.
[[nodiscard]] status check_reach(const fault_pick& pick);

} // namespace troupe
