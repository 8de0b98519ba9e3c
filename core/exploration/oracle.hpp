#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/exploration/run_record.hpp"
#include "core/status.hpp"

namespace troupe {

/// A rule that every run must keep.
struct oracle {
  std::string name;
  /// What it saw against the rule, in a line or two; empty if the run kept it. What it throws
  /// counts as a violation.
  std::function<std::string(const run_record&)> check;
};

/// A rule that a run broke.
struct violation {
  std::string oracle;
  std::string what;

  friend bool operator==(const violation&, const violation&) = default;
};

/// "oracle 'fifo': stream 3 ..."
[[nodiscard]] std::string describe(const violation& broken);

/// The rules that hold for every run of every program, unless the runtime is wrong:
///
/// | name | rule |
/// |---|---|
/// | answers | each request of a client to an actor gets one answer |
/// | fifo | the commands of a stream begin and end in the order of their numbers, each once |
/// | tickets | a wait ends when what it waits for has ended, or by a failure |
/// | truth | what counts as completed has worked, failed or been dropped; nothing works twice |
/// | copies | each chunk of a copy equals its source when it has been copied |
/// | reuse | memory that unended work touches is handed out for use after it in its stream only |
/// | accounts | memory, streams and contexts are back to their start when a runtime has ended |
/// | survivors | no actor, thread, timer or work is left then |
/// | liveness | after a plan's faults have stopped, each device in use does a fixed piece of work |
[[nodiscard]] const std::vector<oracle>& default_oracles();

/// The defaults without those named in `off`, and `more`. Fails with `invalid_parameter` for a name
/// that no default has, for one that two oracles have, and for an oracle without name or check.
[[nodiscard]] result<std::vector<oracle>> select_oracles(const std::vector<std::string>& off,
                                                         const std::vector<oracle>& more);

/// What `oracles` have against `record`, in their order.
[[nodiscard]] std::vector<violation> judge(const run_record& record,
                                           const std::vector<oracle>& oracles);

} // namespace troupe
