#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/status.hpp"

namespace troupe {

/// What happens out of the ordinary to one item of one channel: it is late, or a fault befalls it.
struct schedule_entry {
  std::string channel;       ///< the channel's stable name
  std::uint64_t ordinal = 1; ///< the n-th item of the channel, from 1
  std::uint64_t delay = 0;   ///< in steps after its arrival; 0 for a fault
  std::string fault;         ///< a word such as "drop", see `script_faults`; empty for a delay

  /// `steps` is 1 or more.
  [[nodiscard]] static schedule_entry late(std::string channel, std::uint64_t ordinal,
                                           std::uint64_t steps);
  /// `word` is made of a-z, 0-9, `_`, `=`, `.` and `-`, with no digit in front. What it means:
  /// `script_faults`.
  [[nodiscard]] static schedule_entry faulty(std::string channel, std::uint64_t ordinal,
                                             std::string word);

  [[nodiscard]] bool is_delay() const noexcept { return fault.empty(); }

  friend bool operator==(const schedule_entry&, const schedule_entry&) = default;
};

/// A run, written as what makes it differ from first in, first out: few entries for few
/// deviations. As entries are independent of each other, leaving some out gives a script again,
/// which is what `shrink` lives on; a list of the choices taken has no such sense.
struct schedule_script {
  std::vector<schedule_entry> entries;

  friend bool operator==(const schedule_script&, const schedule_script&) = default;
};

/// One line, such as "client 1>stream 5 #1 +40; engine 2>stream 5 #3 drop".
///
///     script  = [ entry { ";" entry } ]
///     entry   = channel "#" ordinal ( "+" steps | word )
///
/// with blanks wherever one likes between the parts. The line can be pasted as it is between the
/// double quotes of C++ or the single quotes of a shell: in a channel's name, the bytes `%`, `#`,
/// `;`, quotes, backslash, control characters, and a blank at either end are written `%XX`.
[[nodiscard]] std::string to_string(const schedule_script& script);

/// Reads what `to_string` writes. Fails with `invalid_parameter` and a message that names the
/// column, from 1, and what is wrong there; also for a second delay of one item, and for the same
/// fault twice. The empty line is the empty script.
[[nodiscard]] result<schedule_script> parse_schedule_script(std::string_view line);

} // namespace troupe
