#pragma once

#include <array>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "api/python/src/device_array.hpp"
#include "api/python/src/work_stream.hpp"

namespace troupe::python {

/// What a call without a stream is about.
enum class lane : unsigned char { compute, upload };

/// The streams for calls that name none: one for everything, or with option enablePipelining one
/// for each kind, so that copies and compute overlap. A thread of Python has its own in each
/// context.
class lanes {
public:
  explicit lanes(std::weak_ptr<place> home) : home_(std::move(home)) {}

  /// The stream that serves `which` now; made at its first use.
  [[nodiscard]] std::shared_ptr<work_stream> at(lane which);

  [[nodiscard]] bool ended() const noexcept { return home_.expired(); }
  [[nodiscard]] bool of(const troupe::runtime* runs) const noexcept {
    const auto home = home_.lock();
    return home && home->runs().get() == runs;
  }

  /// Behind the last work of each stream that nobody waited for, if it may not have ended.
  [[nodiscard]] std::array<std::optional<event>, 2>& last() noexcept { return last_; }
  void note_pending(const work_stream& user, const event& after);

private:
  std::weak_ptr<place> home_;
  std::array<std::shared_ptr<work_stream>, 2> streams_;
  std::array<std::optional<event>, 2> last_; // of these streams
};

/// Those of the calling thread in `home`.
[[nodiscard]] lanes& lanes_of(const std::shared_ptr<place>& home);

/// Lets the calling thread's streams go whose contexts have ended.
void drop_ended_lanes();

/// One use of memory by a command.
struct memory_access {
  std::shared_ptr<storage> of;
  bool writes = false;
};

/// Submits work that names no stream: on the stream for `which`, after all that earlier calls of
/// the kind have to do with the same memory; the result is as if each call had ended before the
/// next. Unless option enableAsync is set it returns when the work has ended, and raises its
/// failure. `keep` is kept alive until then.
void submit_on_lane(const std::shared_ptr<place>& home, lane which,
                    const std::vector<memory_access>& memory,
                    const std::function<status(stream&)>& submit, py::object keep);

/// Before a submission to `user`, a stream that was named: has it come after what earlier calls of
/// the calling thread that named none have left to do (option enableAsync). A stream that captures
/// is left alone: its work runs later.
void order_after_calls(work_stream& user);

/// Waits for what earlier calls that name no stream have to do with memory that is to be used so.
void wait_for_uses(const std::vector<memory_access>& memory);

/// Runs a copy that names no stream on the calling thread, after all that earlier calls of the kind
/// have to do with the same memory; raises what these failed with.
void copy_here(const std::shared_ptr<place>& home, const std::vector<memory_access>& memory,
               const copy_request& request);

/// Has calls on `memory`, a block fresh from a pool, wait for what `user` still does, as that may
/// have to do with the block's former life.
void mark_fresh(storage& memory, work_stream& user);

/// Sets all bytes of `target`, as such a call.
void fill_on_lane(const device_array& target, unsigned char value);

} // namespace troupe::python
