#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <utility>

#include "api/python/src/interruption.hpp"
#include "api/python/src/place.hpp"
#include "troupe/stream.hpp"

namespace troupe::python {

/// A stream and what its work needs to stay alive: the host arrays of asynchronous copies. Called
/// with the GIL; shared by `runtime.Stream` objects and the streams of calls that name none.
class work_stream {
public:
  work_stream(std::shared_ptr<place> home, stream on)
      : home_(std::move(home)), on_(std::move(on)) {}

  /// Does not wait: what is kept stays until the work has ended.
  ~work_stream();
  work_stream(const work_stream&) = delete;
  work_stream& operator=(const work_stream&) = delete;

  [[nodiscard]] stream& on() noexcept { return on_; }
  [[nodiscard]] const stream& on() const noexcept { return on_; }
  [[nodiscard]] const std::shared_ptr<place>& home() const noexcept { return home_; }

  /// Submits by `f`, which returns a status and may be called again; raises what that says. Ctrl-C
  /// ends a wait for room in a full queue.
  template <class F>
  void submit(F&& f) {
    if (!home_->live()) return check(without_gil(f));
    submit_live(home_->runs()->options().submit_timeout_ms, f);
  }

  /// Keeps `object` until all that has been submitted by now has ended.
  void keep(py::object object);

  /// Lets go what ended work was kept for.
  void let_go_ended();

  [[nodiscard]] std::size_t kept() const noexcept { return kept_.size(); }

  /// Calls of a thread that named no stream, up to one of them.
  struct calls_before {
    unsigned long thread = 0;
    std::uint64_t number = 0;
    friend bool operator==(const calls_before&, const calls_before&) = default;
  };
  /// Those that the stream has been told to come after, last.
  [[nodiscard]] const calls_before& comes_after() const noexcept { return comes_after_; }
  void set_comes_after(const calls_before& calls) noexcept { comes_after_ = calls; }

  /// Waits for all that was submitted.
  void synchronize(timeout limit);

private:
  std::shared_ptr<place> home_;
  stream on_;
  std::deque<std::pair<std::uint64_t, py::object>> kept_;
  calls_before comes_after_;
};

/// Lets go what streams without a handle were keeping, as their work ends.
void let_go_orphans();

} // namespace troupe::python
