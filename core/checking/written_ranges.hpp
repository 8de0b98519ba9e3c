#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <utility>

namespace troupe {

/// Which bytes of something have been written, as ranges that do not touch. A plain value.
class written_ranges {
public:
  using range = std::pair<std::uint64_t, std::uint64_t>; ///< from the first byte to before the last

  /// Notes that [first, end) has been written.
  void add(std::uint64_t first, std::uint64_t end);

  /// The first bytes of [first, end) that have not been written; nothing if all have.
  [[nodiscard]] std::optional<range> first_gap(std::uint64_t first, std::uint64_t end) const;

private:
  std::map<std::uint64_t, std::uint64_t> ranges_; // first to end
};

} // namespace troupe
