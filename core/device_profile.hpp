#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/status.hpp"

namespace troupe {

/// What a simulated device is like: the figures that property queries report, that quotas are
/// taken from, and that virtual time is computed with. A plain value; any thread.
///
/// The defaults describe an "Ascend 910". Its memory is that of the sample output in the article
/// that introduces this runtime ("80.0 GB"); the stream and event limits are the documented ones
/// of A2/A3 parts; all other figures are of the order of public data sheets, not measured.
///
/// The limits of each field: `describe_profile_fields`.
struct device_profile {
  std::string name = "Ascend 910";
  std::uint64_t memory_bytes = std::uint64_t{80} << 30;
  unsigned cores = 32;
  unsigned clock_khz = 1'000'000;
  double peak_flops = 256e12;       ///< FLOP/s, of the whole device
  double link_bandwidth = 32e9;     ///< bytes/s, host to device, each direction
  double memory_bandwidth = 1.2e12; ///< bytes/s, within the device
  unsigned queue_slots = 64;        ///< streams served at the same time; others wait
  unsigned stream_limit = 1'984;    ///< streams that may exist on the device
  unsigned event_limit = 65'536;    ///< events that may exist on the device

  /// The default profile.
  [[nodiscard]] static device_profile ascend_910() { return {}; }

  friend bool operator==(const device_profile&, const device_profile&) = default;
};

/// Reads a profile from a JSON object; a field that is missing keeps its default.
///
/// Failures: `parse_file` with the position for broken JSON or a field given twice;
/// `invalid_parameter` for an unknown field, a wrong type, or a value that is zero, negative or
/// above its limit, with the field, the value and the allowed range in the message.
[[nodiscard]] result<device_profile> parse_profile(std::string_view json);

/// All fields as a JSON object, which `parse_profile` reads back to an equal value.
[[nodiscard]] std::string to_json(const device_profile& profile);

/// `invalid_parameter`, worded as by `parse_profile`, for a profile set by code that no JSON text
/// could have given.
[[nodiscard]] status validate(const device_profile& profile);

/// A reference of all fields as a Markdown table: JSON field, default, allowed values, meaning.
[[nodiscard]] std::string describe_profile_fields();

} // namespace troupe
