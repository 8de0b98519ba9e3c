#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace troupe {

/// What an engine kind of one device has done since the runtime began, all its engines together.
struct engine_counters {
  std::size_t engines = 0;    ///< made so far, but for those put aside as stuck ones came back
  std::size_t running = 0;    ///< executing right now
  std::size_t waiting = 0;    ///< streams that queue for one
  std::uint64_t commands = 0; ///< executed
  std::uint64_t bytes = 0;    ///< moved by copies
  std::int64_t busy_ns = 0;   ///< time spent executing, summed over engines, running ones included
};

/// The hardware queue slots of a device: how many streams are served at once, and what surplus ones
/// wait. A stream counts as served from when its work is ready until it has none or waits for an
/// event; a wait of no time is not counted.
struct slot_counters {
  std::size_t slots = 0;             ///< of the profile
  std::size_t served = 0;            ///< streams that hold one now
  std::size_t served_high_water = 0; ///< the most that did at once: the parallelism achieved
  std::size_t waiting = 0;           ///< streams that queue for one now
  std::uint64_t waits = 0;           ///< that have ended
  std::int64_t waited_ns = 0;        ///< all of them together
  std::int64_t waited_max_ns = 0;    ///< the longest
};

/// Figures of a device, readable while it works; each is exact, together they are not one instant.
struct device_counters {
  engine_counters compute;
  engine_counters dma_h2d;
  engine_counters dma_d2h;
  engine_counters dma_d2d;
  engine_counters callback;
  slot_counters slots;
  std::size_t streams = 0;
  std::size_t events = 0;
  std::uint64_t allocations = 0; ///< taken from the device heap, pools' blocks included
  std::int64_t elapsed_ns = 0;   ///< since the runtime began
  std::size_t engines_max = 0;   ///< compute engines at most

  /// Share of the compute engines' time spent executing, 0 to 1. Engines that were given up on work
  /// beside those that replaced them; no more than `engines_max` count.
  [[nodiscard]] double utilisation() const noexcept {
    const auto capacity = static_cast<double>(elapsed_ns) * static_cast<double>(engines_max);
    const auto busy = static_cast<double>(compute.busy_ns);
    return capacity > 0 ? std::min(busy / capacity, 1.0) : 0.0;
  }
};

/// Figures of one stream.
struct stream_counters {
  std::uint64_t submitted = 0; ///< commands accepted
  std::uint64_t completed = 0; ///< commands that have ended
  std::uint64_t failed = 0;    ///< of these, failed
  std::uint64_t dropped = 0;   ///< of these, did not run, or were told to stop while they ran
  std::size_t queue_bytes = 0; ///< memory held by the queue now
  std::uint64_t slot_waits = 0;    ///< times it waited for a hardware slot of its device
  std::int64_t slot_waited_ns = 0; ///< and how long altogether
};

/// State of a device's memory or of the runtime's host memory, in bytes.
struct memory_info {
  std::uint64_t total = 0;
  std::uint64_t used = 0;
  std::uint64_t free = 0;
  std::uint64_t largest_hole = 0;
  std::uint64_t high_water = 0;   ///< the most that was in use
  std::uint64_t quarantined = 0;  ///< freed, but work in flight may still touch it; part of used
  std::uint64_t backed = 0;       ///< charged to the process's memory budget
  std::uint64_t cached = 0;       ///< held by pools and not handed out; part of used
};

/// What one context has of its device's memory, in bytes. Sizes are what blocks occupy, rounding
/// included.
struct context_memory {
  std::uint64_t used = 0;        ///< by its blocks and its pools' large blocks
  std::uint64_t requested = 0;   ///< what was asked for with these
  std::uint64_t cached = 0;      ///< held by its pools and not handed out; part of used
  std::uint64_t quarantined = 0; ///< freed, but work in flight may still touch it; part of used
  std::uint64_t high_water = 0;  ///< the most that was used
  std::uint64_t blocks = 0;
  std::uint64_t limit = 0;       ///< what it may use; 0: as much as there is
};

/// State of a pool, in bytes and counts.
struct pool_counters {
  std::uint64_t reserved = 0;   ///< taken from the device
  std::uint64_t reserved_high_water = 0;
  std::uint64_t used = 0;       ///< handed out
  std::uint64_t used_high_water = 0;
  std::uint64_t allocations = 0;
  std::uint64_t reused = 0;     ///< allocations served from freed blocks
  std::uint64_t followed = 0;   ///< of these, while the work before went on, by waits for events
  std::uint64_t grown = 0;      ///< times the device was asked for memory
  std::uint64_t cached = 0;     ///< reserved, not handed out, and free for any stream now
  std::uint64_t pending_free = 0; ///< freed, but work in flight may still touch it
  std::uint64_t largest_free = 0; ///< the largest allocation that needs no more from the device now
};

} // namespace troupe
