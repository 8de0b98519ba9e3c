#pragma once

#include <cstdint>
#include <string>

namespace troupe {

/// Something that is legal, handled, and most likely a mistake of the program or its environment.
struct diagnostic {
  enum class kind : unsigned char {
    freed_in_use,      ///< memory was freed while accepted work may still touch it
    record_overwritten, ///< an event was recorded again before anybody looked at its last record
    stuck_threads, ///< so much user code was given up on that a device takes no more, or no thread
                   ///< can be had in its place
    unknown_variable, ///< an environment variable has the runtime's prefix and sets nothing
    leaked_memory, ///< a context ended while memory allocated by address had not been freed
    // With the option `checked_memory`:
    read_before_write, ///< a task read bytes of its memory that nothing has written
    out_of_bounds,     ///< bytes behind the end of a block were used, or found written
    used_after_free    ///< bytes of a freed block were used, or found written
  };

  kind what = kind::freed_in_use;
  std::uint64_t stream = 0; ///< the stream concerned, or the first of them
  std::string message;
};

} // namespace troupe
