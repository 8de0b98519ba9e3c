#pragma once

#include <map>
#include <string>
#include <typeindex>

#include <caf/mailbox_element.hpp>

namespace troupe {

/// Names kinds of messages as our message types are named: "abort_stream". One owner at a time.
class message_kinds {
public:
  static constexpr const char* of_caf = "caf_message"; ///< exit, down and the like

  [[nodiscard]] const std::string& of(caf::mailbox_element& element);

private:
  std::map<std::type_index, std::string> known_; // looked up, never walked through
};

} // namespace troupe
