#pragma once

#include "actors/engine_port.hpp"
#include "core/command.hpp"
#include "core/status.hpp"

namespace troupe {

class stream_record;

/// Which engines execute commands of `kind`. Records and waits need none and are done by whoever
/// holds the grant; they name the compute engine.
[[nodiscard]] engine_kind engine_for(command_kind kind) noexcept;

/// How far an engine took a command.
enum class progress : unsigned char {
  ended,     ///< it ran, well or not
  set_aside, ///< it was left part-way and the engine goes on with something else
  engaged,   ///< the engine keeps the grant and will drive the stream again when the work ends
};

/// What an engine does for a stream whose grant it holds.
class executor {
public:
  virtual ~executor() = default;

  [[nodiscard]] virtual bool executes(command_kind kind) const noexcept = 0;

  /// Whether the stream should go back to the queue before its next command: a greater priority
  /// waits, or its turn is over.
  [[nodiscard]] virtual bool turn_over(const stream_record& stream) noexcept = 0;

  /// Runs `c`; if to its end, `outcome` is how it went.
  [[nodiscard]] virtual progress execute(stream_record& stream, command& c, status& outcome) = 0;

  /// Whether it is worth staying with a stream whose queue has just run empty: its submitter may be
  /// about to go on, and taking the next command then costs nobody a hand-over. `looks` counts from
  /// 0 for each time the queue runs empty; `hurry` says that somebody waited for the stream just
  /// then and will go on at once. Pauses before it says yes.
  [[nodiscard]] virtual bool worth_staying(unsigned looks, bool hurry) const noexcept = 0;

  /// Puts the grant back into the queue.
  virtual void requeue(stream_record& stream) = 0;
};

/// Takes `stream`, whose grant the caller holds, as far as it goes: executes what `by` executes
/// (nothing if null), does records and waits on the way, drops what was aborted, and then parks the
/// grant, leaves it with a ticket, or passes it to the engines of the next command. The caller has
/// no grant afterwards.
void drive(stream_record& stream, executor* by);

} // namespace troupe
