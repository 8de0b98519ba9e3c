#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "api/python/src/failure.hpp"
#include "troupe/runtime.hpp"

namespace troupe::python {

class place;
struct ending;

/// A runtime as Python code uses it: the one that `init` made, or that of a simulated run.
/// Everything here is called with the GIL, which guards what changes.
class session : public std::enable_shared_from_this<session> {
public:
  /// Takes over a runtime; `live` is false for that of a simulated run.
  session(std::shared_ptr<troupe::runtime> runs, bool live);
  ~session();
  session(const session&) = delete;
  session& operator=(const session&) = delete;

  /// Raises 100001 after the end.
  [[nodiscard]] const std::shared_ptr<troupe::runtime>& runtime() const;
  [[nodiscard]] bool live() const noexcept { return live_; }
  [[nodiscard]] bool is_open() const noexcept { return open_; }
  [[nodiscard]] const std::shared_ptr<ending>& end() const noexcept { return end_; }

  /// Device `index`; raises 107001.
  [[nodiscard]] device device_at(std::int64_t index) const;

  /// The context that serves device `index` for all who name none; made at its first use.
  [[nodiscard]] std::shared_ptr<place> place_of(std::int64_t index);

  /// All of these contexts that exist.
  [[nodiscard]] std::vector<std::shared_ptr<place>> places() const;

  /// Resets device `index`; what it had is gone.
  void reset(std::int64_t index);

  /// The runtime ends by itself now.
  void forget();

  /// Has the session know a context that a program made.
  void enlist(const std::shared_ptr<place>& made);

  /// Ends the runtime; raises what that says, or, if it `tells`, the first failure that nobody was
  /// told of. Refused in kernels and callbacks: nothing has changed then. Again does nothing.
  void shut_down(bool tells);

private:
  [[nodiscard]] status take_untold() const;

  std::shared_ptr<troupe::runtime> runtime_;
  bool live_;
  bool open_ = true;
  std::shared_ptr<ending> end_;
  std::map<std::int64_t, std::shared_ptr<place>> places_;
  std::vector<std::weak_ptr<place>> all_; // those of programs as well
};

/// The session that the calling thread works with; raises 100001 if there is none.
[[nodiscard]] std::shared_ptr<session> current_session();

/// Makes `s` what `current_session` gives on this thread while it exists: in simulated runs.
class session_scope {
public:
  explicit session_scope(std::shared_ptr<session> s);
  ~session_scope();
  session_scope(const session_scope&) = delete;
  session_scope& operator=(const session_scope&) = delete;

private:
  std::shared_ptr<session> before_;
};

/// The calling thread's current device.
[[nodiscard]] std::int64_t current_device() noexcept;

void bind_session(py::module_& m);

} // namespace troupe::python
