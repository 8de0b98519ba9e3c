#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>

#include "actors/ticket.hpp"

namespace troupe {

/// Which work of other streams the streams of a context come after, by the waits they were given:
/// what memory may be reused by that is still at work. Any thread.
///
/// For each pair of streams the last wait is kept, as later waits ask for more. A wait that an abort
/// has dropped counts no more, and one that may expire is never noted, as its stream goes on either
/// way. What is told depends on what the program asked for alone, not on how fast work goes.
class wait_book {
public:
  /// Command `number` of `waiter`, or the one after it, comes after all of `work`.
  void note(const timeline& waiter, std::uint64_t number, const ticket& work);

  /// Whether all that is submitted to `waiter` from now on comes after `work`: by a wait of its own,
  /// or of a stream that it waits for, and so on.
  [[nodiscard]] bool comes_after(const timeline& waiter, const ticket& work) const;

  /// A stream has ended: it waits for nothing any more.
  void forget(std::uint64_t stream);

private:
  struct wait {
    std::uint64_t number; // in the stream that waits
    ticket work;
  };
  using waits = std::map<std::uint64_t, wait>; // by the stream waited for
  [[nodiscard]] bool reaches(const timeline& waiter, std::uint64_t up_to, const ticket& work,
                             unsigned depth) const;

  std::atomic<bool> used_ = false; // most contexts never wait
  mutable std::mutex guard_;
  std::map<std::uint64_t, waits> waits_; // by the stream that waits
};

} // namespace troupe
