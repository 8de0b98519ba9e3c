#pragma once

#include <memory>

#include "api/python/src/object_ref.hpp"
#include "api/python/src/session.hpp"
#include "troupe/testing.hpp"

namespace troupe::python {

/// `runtime.testing.Stage`: what the body of a simulated run is given. Good until the body returns.
class stage_handle {
public:
  explicit stage_handle(testing::stage& play);

  /// Ends the body's part: later calls raise 100001.
  void close();

  [[nodiscard]] testing::stage& play() const;
  [[nodiscard]] const std::shared_ptr<session>& runs() const noexcept { return runs_; }

private:
  testing::stage* play_;
  std::shared_ptr<session> runs_;
};

/// Runs `body(stage)`, of Python, in a simulated run; throws what it raises. Without the GIL.
void run_body(const object_ref& body, testing::stage& play);

void bind_stages(py::module_& m);

} // namespace troupe::python
