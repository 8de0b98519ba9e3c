#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "troupe/exploring.hpp"

namespace troupe::planted {

/// A small program that checks what it sees, and throws what is wrong in a sentence. Right in every
/// order that its options allow, and under every plan that it draws.
struct job {
  std::string name;
  testing::explored_body body;
  testing::exploration_options options;
  std::function<fault_plan(std::uint64_t seed)> faults; ///< null: none
};

[[nodiscard]] const std::vector<job>& all_jobs();

/// Throws `what` as a `std::runtime_error` unless `holds`.
void demand(bool holds, const std::string& what);

// The programs.
void handover(testing::stage& play);
void old_tickets(testing::stage& play);
void three_streams(testing::stage& play);
void stamps(testing::stage& play);
void deadlines(testing::stage& play);
void aborted(testing::stage& play);
void copy_and_abort(testing::stage& play);
void work_and_abort(testing::stage& play);
void stuck(testing::stage& play);
void endings(testing::stage& play);
void shutdown(testing::stage& play);
void queue(testing::stage& play);
void priorities(testing::stage& play);
void yielding_copy(testing::stage& play);
void callbacks(testing::stage& play);
void pool_blocks(testing::stage& play);
void followed_pool(testing::stage& play);
void overtaking(testing::stage& play);
void memory(testing::stage& play);
void host_copy(testing::stage& play);
void limits(testing::stage& play);
void failures(testing::stage& play);
void late_failure(testing::stage& play);
void stop_mode(testing::stage& play);
void losses(testing::stage& play);

} // namespace troupe::planted
