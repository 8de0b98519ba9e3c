#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>

#include <gsl/gsl>

#include "core/command.hpp"

namespace troupe {

/// Which bytes the commands touch that have been accepted and have not ended, by what they declare.
/// One owner at a time.
class work_ranges {
public:
  struct work {
    std::uint64_t stream;
    std::uint64_t number;
    std::uint64_t context;
    command_kind kind;
    const char* name;
    const std::byte* base; ///< of one of its ranges
    std::size_t bytes;
  };

  /// Notes the ranges of `c`, which gets `number` in `stream`; numbers of a stream grow.
  void add(std::uint64_t stream, std::uint64_t context, std::uint64_t number, const command& c);

  /// The commands of `stream` up to `number` have ended.
  void end(std::uint64_t stream, std::uint64_t number);

  /// The commands of a stream up to a number.
  struct part {
    std::uint64_t stream;
    std::uint64_t up_to = UINT64_MAX;
  };

  /// Work that touches any of the `bytes` from `base` on and is none of `known`; null if there is
  /// none. Good until the next change.
  [[nodiscard]] const work* find(const std::byte* base, std::size_t bytes,
                                 gsl::span<const part> known) const;

private:
  std::map<std::uint64_t, std::deque<work>> streams_; // by stream, in the order of numbers
};

} // namespace troupe
