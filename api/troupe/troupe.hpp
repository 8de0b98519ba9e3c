#pragma once

/// Troupe: a device runtime in which every part of the machine is an actor.
///
/// | to do this                              | use                                                |
/// | --------------------------------------- | -------------------------------------------------- |
/// | begin                                   | `runtime`, `runtime::device`, `least_loaded`       |
/// | isolate a tenant                        | `device::create_context`                           |
/// | order work / run work in parallel       | one `stream` / several                             |
/// | order one stream after another          | `stream::record`, `stream::wait`                   |
/// | hold a stream until the host says go    | `runtime::create_signal`, `stream::wait`           |
/// | compute                                 | `stream::launch`, `launch_by_name`                 |
/// | move bytes in stream order / right now  | `stream::copy` / `context::copy`                   |
/// | copy without blocking the caller        | `runtime::allocate_host`, then `stream::copy`      |
/// | copy rows / many small pieces           | `copy_2d` / `copy_batch`, of stream or context     |
/// | convert numbers on their way            | `convert`, with `half`, `bfloat16`, `std::int8_t`  |
/// | set memory to a value                   | `stream::fill_bytes`, `fill`, `fill_2d`            |
/// | run host code in stream order           | `stream::callback`                                 |
/// | launch much work again and again         | `graph`, `executable_graph::launch`                |
/// | make a graph of what a stream is given   | `capturing::begin`, `capturing::end`               |
/// | know that work is done                  | `synchronize`, `query`, `event`, a callback        |
/// | measure device time                     | two events, `event::elapsed_since`                 |
/// | allocate once / again and again         | `context::allocate` / `pool::allocate`             |
/// | map memory, share it on purpose         | `device::reserve`, `device::create_physical`       |
/// | merge many small requests into batches  | `batcher`                                          |
/// | stop work that is not wanted any more   | `stream::abort`, `destroy(true)`, `device::abort`  |
/// | give a device back its first state      | `device::reset`                                    |
/// | learn what failed and why               | `status::describe`, `stream::failures`             |
/// | be told of each failure                 | `runtime::add_failure_listener`                    |
/// | end things and lose no failure          | `take_unreported`                                  |
/// | know what a device is good for          | `device::health`, `device::available`              |
/// | go on after a memory fault              | `device::fault`, `device::abort`, `device::repair` |
/// | watch the machine work                  | `device::counters`, `runtime::diagnostics`         |

#include "troupe/batcher.hpp"
#include "troupe/buffer.hpp"
#include "troupe/capture.hpp"
#include "troupe/context.hpp"
#include "troupe/current.hpp"
#include "troupe/device.hpp"
#include "troupe/event.hpp"
#include "troupe/graph.hpp"
#include "troupe/pool.hpp"
#include "troupe/runtime.hpp"
#include "troupe/stream.hpp"
#include "troupe/unreported.hpp"
