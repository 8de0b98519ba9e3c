#pragma once

#include <string>
#include <utility>

namespace troupe {

/// Leaves the calls of a simulated run that wait for ever and have no status to return, and every
/// call of a client that goes on trying after a hang; see `testing::simulate`. No `std::exception`,
/// so that programs that turn those into answers let it pass; whoever catches everything may throw
/// it on. The hang is in the report whoever catches it.
class simulated_hang {
public:
  explicit simulated_hang(std::string report) : report_(std::move(report)) {}

  /// Who waits for what, several lines.
  [[nodiscard]] const char* what() const noexcept { return report_.c_str(); }

private:
  std::string report_;
};

} // namespace troupe
