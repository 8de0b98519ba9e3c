#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <string>

namespace troupe {

/// That an actor handled a message.
struct handled_message {
  std::string role;         ///< of the actor, see `cast`
  std::string state;        ///< that it was in
  std::string message;      ///< its kind
  bool after_fault = false; ///< whether a fault had struck in the run by then

  friend auto operator<=>(const handled_message&, const handled_message&) = default;
};

/// Two messages that an actor handled one after the other.
struct neighbours {
  std::string role;
  std::string first;
  std::string second;

  friend auto operator<=>(const neighbours&, const neighbours&) = default;
};

/// Which messages were handled in one run, or in many, and how often. A plain value.
struct run_coverage {
  std::map<handled_message, std::uint64_t> messages;
  std::map<neighbours, std::uint64_t> pairs;

  void add(const run_coverage& other) {
    for (const auto& [what, count] : other.messages) messages[what] += count;
    for (const auto& [what, count] : other.pairs) pairs[what] += count;
  }
};

} // namespace troupe
