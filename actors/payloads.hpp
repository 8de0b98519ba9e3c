#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <variant>

#include "actors/scheduling/clock.hpp"
#include "actors/scheduling/timer_queue.hpp"
#include "actors/timeline.hpp"
#include "core/access.hpp"
#include "core/command.hpp"
#include "core/copies/copy_form.hpp"

namespace troupe {

/// One record of an event: made when the record is submitted, stamped when the device reaches it.
/// Held by the event, by the record command and by waits, so that the quota of events counts a
/// destroyed event until nothing uses it any more, or its context has ended.
struct event_stamp {
  std::shared_ptr<void> slot;        ///< the event's place in the device's quota
  std::atomic<time_ns> at = never_ns; ///< device time; `never_ns` until reached
  std::atomic<bool> observed = false; ///< whether anybody waited for or asked about it
};

/// Payload of a `record` command.
struct record_payload {
  std::shared_ptr<event_stamp> stamp;
};

/// Payload of a `wait` command: the ticket, and how long the stream may wait for it.
struct wait_payload {
  std::shared_ptr<timeline> line;
  std::uint64_t number = 0;
  std::shared_ptr<event_stamp> stamp;
  time_ns limit = never_ns;
  timer_queue::timer_id timer = 0;
};

/// Payload of the copy kinds: writes `bytes` to `target`, from `source`, or `value` again and again if
/// that is null; `form` tells where they lie. `done` is how far it has come: a copy can be set
/// aside between two chunks.
struct copy_payload {
  std::byte* target = nullptr; ///< of a batch neither is used
  const std::byte* source = nullptr;
  std::size_t bytes = 0;
  std::size_t done = 0;
  fill_pattern value;
  copy_form form;

  /// Makes it a copy that has not begun.
  void begin_again() noexcept {
    done = 0;
    if (auto* list = std::get_if<in_entries>(&form)) list->at = list->done = 0;
  }

  static void ranges(const void* payload, const access_sink& sink);
};

inline constexpr operation copy_ops = [] {
  auto made = carried<copy_payload>::make();
  made.ranges = &copy_payload::ranges;
  return made;
}();

/// The operations of a batch, a `copy_payload` whose entries end with it.
inline constexpr operation batch_ops = [] {
  auto made = copy_ops;
  made.destroy = [](void* payload) noexcept {
    delete[] std::get<in_entries>(static_cast<copy_payload*>(payload)->form).entries;
  };
  made.borrowed = &copy_ops;
  return made;
}();

/// The event or wait command's operations.
inline constexpr const operation& record_ops = carried<record_payload>::ops;
inline constexpr const operation& wait_ops = carried<wait_payload>::ops;

} // namespace troupe
