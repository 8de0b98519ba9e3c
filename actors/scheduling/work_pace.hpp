#pragma once

#include <functional>
#include <string>

#include "actors/scheduling/clock.hpp"

namespace troupe {

class command;
class stream_record;
class actor_base;

/// How long work takes where time is simulated. An engine that has begun a piece of work (a kernel,
/// a chunk of a copy, a callback) keeps the stream's grant and handles no other until told.
class work_pace {
public:
  virtual ~work_pace() = default;

  /// Device time that `c`, or the next `chunk_bytes` of it if it is a copy, takes; `never_ns` for
  /// work that never completes.
  [[nodiscard]] virtual time_ns cost_of(const stream_record& stream, const command& c,
                                        std::size_t chunk_bytes) = 0;

  /// Runs `ended`, which sends `engine` a message, when the work is done at `due`.
  virtual void work_until(time_ns due, const actor_base& engine, std::function<void()> ended) = 0;
};

} // namespace troupe
