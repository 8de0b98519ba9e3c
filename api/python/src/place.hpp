#pragma once

#include <memory>
#include <optional>

#include "api/python/src/arguments.hpp"
#include "troupe/context.hpp"
#include "troupe/device.hpp"
#include "troupe/runtime.hpp"

namespace troupe::python {

/// Ends what `owner` holds, a handle of the runtime, without the GIL if the caller has it: in a
/// simulated run other clients may go on meanwhile.
template <class T>
void let_go(T& owner) {
  if (python_is_open() && PyGILState_Check() == 1) {
    without_gil([&] { owner = T(); });
  } else {
    owner = T();
  }
}

/// Whether a context or all of its runtime ends: no kernel shall begin any more. By the GIL.
struct ending {
  std::shared_ptr<const ending> of; ///< of what this is part of; null for a runtime
  bool begun = false;

  [[nodiscard]] bool has_begun() const noexcept { return begun || (of && of->has_begun()); }
};

/// A context as Python code uses it: `runtime.Context`, or the one of a device that serves all who
/// name none. Called with the GIL.
class place {
public:
  /// A fresh context on `where`, of a runtime whose end is `end`.
  [[nodiscard]] static std::shared_ptr<place> make(std::shared_ptr<troupe::runtime> runs,
                                                   std::shared_ptr<const ending> end, bool live,
                                                   const device& where,
                                                   const context_options& options = {});
  ~place();
  place(const place&) = delete;
  place& operator=(const place&) = delete;

  [[nodiscard]] const context& home() const noexcept { return home_; }
  [[nodiscard]] const device& on() const noexcept { return on_; }
  [[nodiscard]] bool live() const noexcept { return live_; }
  [[nodiscard]] const std::shared_ptr<troupe::runtime>& runs() const noexcept { return runs_; }

  /// Unlike ids of contexts never used again in this process.
  [[nodiscard]] std::uint64_t serial() const noexcept { return serial_; }

  [[nodiscard]] const std::shared_ptr<ending>& end() const noexcept { return end_; }

  /// The pool behind option enableMemoryReuse.
  [[nodiscard]] const pool& reuse();

  /// Gives back what that pool keeps beyond so much.
  void trim(std::uint64_t keep_bytes);

  /// Waits for all streams of the context.
  void synchronize(timeout limit) const;

  /// The first failure of its work that nobody was told of; from now on everybody was. No wait.
  [[nodiscard]] status take_untold() const;

  /// Ends the context; raises what that says, or the first failure that nobody was told of.
  void destroy() const;

private:
  place(std::shared_ptr<troupe::runtime> runs, std::shared_ptr<const ending> end, bool live,
        device where, context home);

  std::shared_ptr<troupe::runtime> runs_;
  std::shared_ptr<ending> end_;
  bool live_;
  std::uint64_t serial_;
  device on_;
  context home_;
  std::optional<pool> reuse_;
};

/// The context that `where` means: a Context, a Device (its own), an index of a device, or None for
/// the thread's current device. Raises TypeError for anything else.
[[nodiscard]] std::shared_ptr<place> to_place(const py::object& where);

void bind_contexts(py::module_& m);

} // namespace troupe::python
