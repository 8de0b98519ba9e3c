#pragma once

#include "tests/bench/contender.hpp"

#include <sys/types.h>

#include <chrono>
#include <string>

namespace troupe::bench {

/// What came of one repetition.
struct answer {
  enum class kind {
    figure,       ///< `figure` holds the result.
    unavailable,  ///< The contender does not exist on this machine.
    failed,       ///< It threw, died or did not answer in time.
  };
  kind outcome = kind::failed;
  double figure = 0;
  std::string reason;
};

/// A process that measures one contender in one row.
///
/// Measuring in processes of their own keeps the contenders honest towards each other: no thread of
/// one runs while another is measured (a child is stopped except during its turn), memory counts
/// start clean, and a crash or hang is named and costs one cell of the table.
///
/// Belongs to one thread of a process that has no others, as it forks.
class child {
public:
  /// Starts the process, stopped. `prepare` runs in the first turn.
  child(const setup& prepare, const workload& work);
  child(const child&) = delete;
  child& operator=(const child&) = delete;
  /// Kills the process and waits for its end.
  ~child();

  /// Lets the process do one repetition and waits at most `limit` for its answer. After an answer
  /// that is no figure the process is gone and must not be asked again.
  [[nodiscard]] answer turn(std::chrono::seconds limit);

private:
  /// Returns when no thread of the process runs any more.
  void stop();

  /// Ends the process and says how it had ended by itself, if it had.
  std::string end();

  pid_t pid_ = -1;
  int socket_ = -1;
};

}  // namespace troupe::bench
