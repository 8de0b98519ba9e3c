#pragma once

#include <cstdint>
#include <string_view>

namespace troupe {

/// A number for the order in which a run went: equal for equal orders, and for unequal ones
/// different but for chance (2^-64). The same on every machine and in every build, so that hashes
/// can be compared across processes. One owner at a time.
class order_hash {
public:
  /// Takes up one step: the `ordinal`-th item of `channel`, of kind `kind`, handled at virtual time
  /// `time`. `kind` is the simulation's own number for kinds of messages.
  void add(std::string_view channel, std::uint64_t ordinal, std::uint32_t kind,
           std::uint64_t time) noexcept;

  /// The hash of the steps so far.
  [[nodiscard]] std::uint64_t value() const noexcept { return value_; }

private:
  std::uint64_t value_ = 0;
};

} // namespace troupe
