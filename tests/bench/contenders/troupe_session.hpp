#pragma once

#include "troupe/troupe.hpp"

#include <cstddef>
#include <vector>

namespace troupe::bench {

/// A runtime with one device, a context there, and its streams. The environment may change the
/// runtime's options, to try settings: `TROUPE_SPIN_US=0 tests/bench/run`.
struct troupe_session {
  explicit troupe_session(std::size_t streams_open);

  void add(std::size_t count);

  /// Submits the empty kernel.
  void launch(std::size_t stream);

  /// Waits until every stream has ended what was submitted before.
  void sync_all() const;

  runtime rt;
  context ctx;
  std::vector<stream> streams;
};

}  // namespace troupe::bench
