#pragma once

#include <cstdint>
#include <string>

namespace troupe {

/// Something a program did that is legal, handled, and most likely a mistake.
struct diagnostic {
  enum class kind : unsigned char {
    freed_in_use,      ///< memory was freed while accepted work may still touch it
    record_overwritten ///< an event was recorded again before anybody looked at its last record
  };

  kind what = kind::freed_in_use;
  std::uint64_t stream = 0; ///< the stream concerned, or the first of them
  std::string message;
};

} // namespace troupe
