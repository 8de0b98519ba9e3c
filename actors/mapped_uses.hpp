#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "core/access.hpp"
#include "core/address_map.hpp"
#include "core/command.hpp"
#include "core/status.hpp"

namespace troupe {

class address_space;
class machine;

/// The mapped memory that a command touches, held from the moment its work begins until it has
/// ended, pauses included: an unmapping in between acts on later commands. One thread at a time.
class mapped_uses {
public:
  mapped_uses() noexcept = default;
  ~mapped_uses();
  mapped_uses(const mapped_uses&) = delete;
  mapped_uses& operator=(const mapped_uses&) = delete;

  /// Holds what `c`, of `context`, declares. Failures: 107000 when some of it is not reserved, not
  /// mapped, or not for that context to use so; what is held then goes with this object.
  [[nodiscard]] status hold(const machine& home, std::uint64_t context, const command& c);

  [[nodiscard]] bool empty() const noexcept { return held_.empty(); }

private:
  std::vector<std::pair<address_space*, address_map::held>> held_;
};

/// Whether `c`, of `context`, might run now, as far as mapped memory and temporary blocks are
/// concerned.
[[nodiscard]] status check_mapped(const machine& home, std::uint64_t context, const command& c);

/// The same for one range.
[[nodiscard]] status check_mapped(const machine& home, std::uint64_t context,
                                  const access_range& range);

} // namespace troupe
