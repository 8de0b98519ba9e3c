#pragma once

#include <cstdint>
#include <memory>

namespace troupe {

// The runtime's own types, known to the facade by name only.
class machine;
class device_record;
class context_record;
class stream_record;
class pool_record;
class memory_record;
class timeline;
struct ticket;

/// What the public handles share behind their backs. Each keeps the machine alive, so that a handle
/// outlives its runtime without harm: calls then fail with 100001.
namespace handles {

/// A context and, if `owned`, the duty to end it when the last handle goes.
struct context_state {
  std::shared_ptr<machine> home;
  std::shared_ptr<context_record> record;
  bool owned;

  context_state(std::shared_ptr<machine> m, std::shared_ptr<context_record> r, bool own);
  ~context_state();
  context_state(const context_state&) = delete;
  context_state& operator=(const context_state&) = delete;
};

/// A stream and, if `owned`, the duty to close it when the last handle goes.
struct stream_state {
  std::shared_ptr<machine> home;
  std::shared_ptr<stream_record> record;
  bool owned;

  stream_state(std::shared_ptr<machine> m, std::shared_ptr<stream_record> r, bool own);
  ~stream_state();
  stream_state(const stream_state&) = delete;
  stream_state& operator=(const stream_state&) = delete;
};

struct event_state;
struct pool_state;

} // namespace handles
} // namespace troupe
