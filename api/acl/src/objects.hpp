#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "actors/ticket.hpp"
#include "api/acl/src/handle_table.hpp"
#include "api/src/binding.hpp"
#include "core/status.hpp"
#include "troupe/buffer.hpp"
#include "troupe/context.hpp"
#include "troupe/event.hpp"
#include "troupe/stream.hpp"

namespace troupe::acl {

class report_queue;

/// Of the options that programs set for a context or the process (aclSysParamOpt), by number; -1
/// where nothing was set. Kernels here are deterministic and consistent whatever they say.
struct option_values {
  std::array<std::atomic<std::int64_t>, 3> by_number{-1, -1, -1};
};

/// How many cores a program wants used, by kind (aclrtDevResLimitType); 0 where it said nothing.
using core_limits = std::array<std::uint32_t, 2>;

/// What a profile of a device does not have; of an Ascend 910 by its data sheet.
inline constexpr std::uint32_t vector_cores_per_core = 2;

/// Whether a kernel of a context had a result that is no finite number: see `overflow`.
using overflow_flag = std::atomic<bool>;

/// What a stream handle stands for.
struct stream_object {
  troupe::stream stream;
  std::atomic<bool> watches_overflow = false;
  std::shared_ptr<overflow_flag> overflowed;  ///< of its context
  std::mutex guard;                           // of all below
  std::shared_ptr<report_queue> reports;      ///< where its callbacks go; null: not subscribed
  core_limits limits;
};

/// What a context handle stands for.
struct context_object {
  context_object(troupe::context made, std::uint32_t index);

  const troupe::context context;
  const std::uint32_t device;
  const std::shared_ptr<overflow_flag> overflowed = std::make_shared<overflow_flag>(false);
  const std::shared_ptr<stream_object> default_stream;  ///< what a null stream means
  option_values options;
  std::mutex guard;                   // of all below
  buffer<std::byte> meeting_place;    ///< of blocks of kernels; made when first asked for
};

/// The object of a context that has just been made: it may use what programs have mapped.
[[nodiscard]] std::shared_ptr<context_object> make_context_object(troupe::context made);

/// What an event handle stands for.
struct event_object {
  troupe::event event;
  std::uint32_t device = 0;
  bool newer = false;  ///< made by aclrtCreateEventExWithFlag
  std::atomic<bool> recorded = false;
  std::mutex guard;   // of all below
  frontier awaited;   ///< waits of streams for it, the last one of each
};

/// A new handle of `made`. Throws 207005 when there is no room in the table.
[[nodiscard]] void* new_handle(handle_kind kind, std::shared_ptr<void> made);

/// The objects of handles; throw `troupe::error`: 107017 for one that is none (any more). A `look`
/// is valid until the thread looks up another of its kind.
[[nodiscard]] stream_object& look_stream(void* handle);
[[nodiscard]] event_object& look_event(void* handle);
[[nodiscard]] std::shared_ptr<stream_object> find_stream(void* handle);

/// As `find_stream`, null being the default stream of the current context, which must be there.
[[nodiscard]] std::shared_ptr<stream_object> find_stream_for_work(void* handle);

/// 107017, naming the kind of handle.
[[nodiscard]] status invalid_handle(const char* kind);

/// Throws 107002 when the calling thread has no current context.
void need_context();

/// The object of the calling thread's current context. Throws 107002 when there is none, and
/// 507007, once, when it has been destroyed.
[[nodiscard]] std::shared_ptr<context_object> current_context();

/// The stream that `handle` names, null being the default one of the current context; throws 107002
/// and 107017. For work: the thread must have a current context.
[[nodiscard]] stream_object& stream_object_for_work(void* handle);
[[nodiscard]] inline stream& stream_for_work(void* handle) {
  return stream_object_for_work(handle).stream;
}

/// The handle of the current context, and who is current: the facade's own binding, plus which
/// handle it goes by.
void set_current(std::shared_ptr<context_object> object, void* handle);
[[nodiscard]] void* current_handle() noexcept;

}  // namespace troupe::acl
