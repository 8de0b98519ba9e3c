#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "actors/process.hpp"
#include "core/faults/fault_plan.hpp"
#include "core/runtime_options.hpp"
#include "core/status.hpp"
#include "troupe/runtime.hpp"
#include "troupe/testing.hpp"

namespace troupe::acl {

namespace detail {
extern std::atomic<std::uint32_t> made_in;  // fork generation of the first runtime, plus 1; or 0
}  // namespace detail

/// Whether the calling process was forked after the interface was in use: its locks may be held for
/// ever, and its threads are not here. Takes no lock.
[[nodiscard]] inline bool inherited() noexcept {
  const auto made = detail::made_in.load(std::memory_order_relaxed);
  return made != 0 && made != fork_generation() + 1;
}

/// The one runtime that the C interface uses, made at the first call that needs it, with options
/// from `aclInit`'s file or, without that call, from the environment. Any thread.
class session {
 public:
  /// `aclInit`: failures 100002 when initialised already, 100003 and 100006 for the file.
  status begin(const char* config_path);

  /// `aclFinalize`: failures 100001 when not initialised, 100037 when finalised already.
  status end();

  /// How often `begin` succeeded and was not followed by `end`: 0 or 1.
  [[nodiscard]] std::uint64_t references() const;

  /// The runtime, made now if there is none. Throws `troupe::error`: 100001 after `end`, 207000 in
  /// a child process forked after it was made, and what is wrong with options.
  [[nodiscard]] runtime& home() {
    auto* const there = live_.load(std::memory_order_acquire);
    return there != nullptr ? *there : make();
  }

  /// From now on the runtime is one of `play`, with the faults given, made as any; what there was
  /// is back after `end_play`, once the play is over.
  void begin_play(testing::stage& play, std::optional<fault_plan> faults);
  void end_play();
  [[nodiscard]] bool played() const;

  /// The one session of the process. It is never destroyed: static destructors may still call.
  [[nodiscard]] static session& instance();

 private:
  enum class state : unsigned char { untouched, begun, ended };

  runtime& make();
  [[nodiscard]] runtime make_with(runtime_options options) const;
  static void end_at_exit();

  mutable std::mutex guard_;
  state state_ = state::untouched;
  runtime_options options_;
  bool has_options_ = false;
  std::optional<fault_plan> faults_;  // of the file
  std::atomic<runtime*> live_ = nullptr;
  // A play in progress, and what there was before it.
  struct interlude {
    testing::stage* play;
    std::optional<fault_plan> faults;
    state before;
    runtime_options options;
    bool has_options;
    std::optional<fault_plan> file_faults;
    runtime* live;
    std::size_t made;
  };
  std::optional<interlude> interlude_;
  std::vector<std::unique_ptr<runtime>>
      all_;  // those that have ended are kept: threads may use them
};

}  // namespace troupe::acl
