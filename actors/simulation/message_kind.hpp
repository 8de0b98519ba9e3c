#pragma once

#include <string>

#include <caf/mailbox_element.hpp>

namespace troupe {

/// What the kind of CAF's own messages (exit, down and the like) is called.
inline constexpr const char* kind_of_caf = "caf_message";

/// The kind of a message, as our message types are named: "abort_stream". Any thread; the text
/// lives as long as the calling thread.
[[nodiscard]] const std::string& message_kind_of(caf::mailbox_element& element);

} // namespace troupe
