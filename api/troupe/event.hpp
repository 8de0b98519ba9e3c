#pragma once

#include <chrono>
#include <memory>

#include "core/status.hpp"
#include "troupe/duration.hpp"
#include "troupe/handles.hpp"

namespace troupe {

/// A mark in a stream. Recording gives it the meaning "stream X up to here" (a ticket that never
/// changes); recording again gives it a new one, and waits submitted before keep the old.
///
/// A shared handle: copies are one event; it ends with the last of them or with the context that
/// made it, at once, and waits already submitted still complete. All streams of its device record
/// it; streams of any device of the runtime may wait for it. Any thread.
class event {
public:
  event() noexcept = default;
  explicit event(std::shared_ptr<handles::event_state> state) noexcept : state_(std::move(state)) {}

  /// Whether everything before the last record has ended; true if it was never recorded. A true
  /// answer makes the effects of that work visible to the caller. Failures: 107023 if the record
  /// was dropped by an abort, the context's first failure if by stop mode; 107017 on a destroyed or
  /// empty handle and when the event's context is destroyed.
  [[nodiscard]] result<bool> query() const;

  /// Waits until `query` would be true. Failures besides those of `query`: 507047 at the limit,
  /// 107000 for a bad limit, and the failure of a task before the record, which it leaves for the
  /// stream's own `synchronize` to report.
  status synchronize(timeout limit = forever) const;

  /// Device time from `start`'s last record to this one's. Failures: 507000 if one was never
  /// recorded, 107006 if one has not been reached, 107028 in a capture, 107007 (with the value in the
  /// message) if this one came first.
  [[nodiscard]] result<std::chrono::duration<double, std::milli>> elapsed_since(
      const event& start) const;

  /// The instant of the last record, by the runtime's steady clock, whose zero means nothing.
  /// Failures: 507000, 107006 and 107028 as of `elapsed_since`.
  [[nodiscard]] result<std::chrono::nanoseconds> instant() const;

  /// Ends the event for all its handles. Returns at once. Failure: 107017 when it has ended.
  status destroy();

  [[nodiscard]] const std::shared_ptr<handles::event_state>& state() const noexcept {
    return state_;
  }

private:
  std::shared_ptr<handles::event_state> state_;
};

/// A ticket that the host completes: streams wait for it as for an event, and go on when it is
/// raised. It takes no engine while it is awaited. A shared handle; any thread.
class signal {
public:
  signal() noexcept = default;
  explicit signal(std::shared_ptr<timeline> line) noexcept : line_(std::move(line)) {}

  /// Lets everybody go who waits for it, now and later. What the caller did before is visible to
  /// the commands that waited. Raising again does nothing, nor does raising an empty handle.
  void raise() const;

  [[nodiscard]] bool raised() const;

  [[nodiscard]] const std::shared_ptr<timeline>& line() const noexcept { return line_; }

private:
  std::shared_ptr<timeline> line_;
};

} // namespace troupe
