#pragma once

#include <memory>
#include <optional>

#include "api/python/src/place.hpp"
#include "troupe/event.hpp"

namespace troupe::python {

class work_stream;

/// `runtime.Event`: an event of whatever device it is recorded on. With the GIL.
class event_handle {
public:
  event_handle() = default;
  ~event_handle() { let_go(event_); }
  event_handle(event_handle&&) noexcept = default;
  event_handle(const event_handle&) = delete;
  event_handle& operator=(const event_handle&) = delete;

  void record(work_stream& on);
  [[nodiscard]] bool query() const;
  void synchronize(timeout limit) const;
  [[nodiscard]] double elapsed_to(const event_handle& end) const;
  void destroy();

  /// The event below; nothing if it was never recorded. Raises 107017 when it was destroyed.
  [[nodiscard]] const std::optional<event>& get() const;
  [[nodiscard]] bool destroyed() const noexcept { return destroyed_; }

private:
  std::optional<event> event_;
  std::uint32_t device_ = 0;
  std::shared_ptr<troupe::runtime> runs_; // that the event is of
  bool live_ = true;
  bool destroyed_ = false;
};

/// `runtime.Signal`: what a stream waits for until host code raises it.
struct signal_handle {
  signal raised_by_host;
};

void bind_events(py::module_& m);

} // namespace troupe::python
