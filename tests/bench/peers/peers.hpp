#pragma once

#include "tests/bench/contender.hpp"

namespace troupe::bench {

/// The physical limit: the bare instructions that a row cannot do without (a call through a
/// pointer, memcpy, fresh pages, oneDNN in a loop), with no runtime around them.
[[nodiscard]] contender direct_peer();

/// oneTBB's flow graph: a serial `function_node` is the stream.
[[nodiscard]] contender tbb_peer();

/// How bare CAF schedules its actors.
enum class caf_policy { stealing, sharing };

/// CAF as shipped: an actor is the stream, one message a launch.
[[nodiscard]] contender caf_peer(caf_policy policy);

/// StarPU: tasks that depend on each other by the data that they declare.
[[nodiscard]] contender starpu_peer();

/// PoCL through OpenCL: an in-order command queue is the stream.
[[nodiscard]] contender pocl_peer();

/// mimalloc: an allocator of host memory that many programs use in place of malloc.
[[nodiscard]] contender mimalloc_peer();

/// The buddy system as text books have it, for how memory falls into pieces.
[[nodiscard]] contender buddy_peer();

}  // namespace troupe::bench
