#pragma once

#include "tests/bench/peers/kernel.hpp"
#include "tests/bench/peers/peers.hpp"

#include <caf/all.hpp>

#include <cstdint>
#include <deque>
#include <latch>
#include <memory>
#include <utility>
#include <variant>

/// The plainest stream and event that one would write on bare CAF: every command is a message.
namespace troupe::bench {

/// Runs a kernel; no answer.
struct caf_work {
  kernel_fn kernel;
};

/// Runs a kernel and answers `true`.
struct caf_call {
  kernel_fn kernel;
};

/// Counts the latch down when the stream comes to it.
struct caf_fence {
  std::shared_ptr<std::latch> reached;
};

/// To a stream: tell the event when the commands before this one are done.
struct caf_record {
  caf::actor event;
  std::uint64_t generation;
};

/// To a stream: run nothing after this before the event has been recorded.
struct caf_wait {
  caf::actor event;
  std::uint64_t generation;
};

/// To an event: it has been recorded.
struct caf_recorded {
  std::uint64_t generation;
};

/// To an event: answer `caf_released` to the sender once it has been recorded.
struct caf_awaited {
  std::uint64_t generation;
};

/// To a stream: the event that it waits for has been recorded.
struct caf_released {};

/// What a stream runs in order.
using caf_command = std::variant<caf_work, caf_fence, caf_record, caf_wait>;

/// The default configuration with the policy set.
class caf_config : public caf::actor_system_config {
public:
  explicit caf_config(caf_policy policy);
};

struct caf_stream_state {
  /// Commands behind a wait. The mailbox cannot hold them: skipping messages there costs time
  /// quadratic in their number.
  std::deque<caf_command> held;
  bool waiting = false;
};

struct caf_event_state {
  std::uint64_t generation = 0;
  std::deque<std::pair<std::uint64_t, caf::actor>> waiters;  ///< In rising order.
};

caf::behavior caf_stream(caf::stateful_actor<caf_stream_state>* self);
caf::behavior caf_event(caf::stateful_actor<caf_event_state>* self);

}  // namespace troupe::bench

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::bench::caf_work)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::bench::caf_call)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::bench::caf_fence)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::bench::caf_record)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::bench::caf_wait)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::bench::caf_recorded)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::bench::caf_awaited)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::bench::caf_released)
