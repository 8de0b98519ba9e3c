#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <gsl/gsl>

namespace troupe {

/// The channels of one run: stable names, such as "client 1>stream 5", to small numbers.
///
/// A number depends on which channel was named first, hence on the schedule; a name must not. It
/// is made of the simulation's own ids, never of addresses or thread ids, so that a script written
/// from one run means the same in another. One owner at a time.
class channel_table {
public:
  channel_table() = default;
  channel_table(channel_table&&) = default;
  channel_table& operator=(channel_table&&) = default;
  channel_table(const channel_table&) = delete; // names_ points into ids_
  channel_table& operator=(const channel_table&) = delete;

  /// The number of `name`, which must not be empty; numbers count from 0 in the order of first use.
  std::uint32_t intern(std::string_view name);

  /// The number of `name` if it was ever named.
  [[nodiscard]] std::optional<std::uint32_t> find(std::string_view name) const;

  /// The name of `id`; valid as long as the table.
  [[nodiscard]] const std::string& name(std::uint32_t id) const {
    Expects(id < names_.size());
    return *names_[id];
  }

  [[nodiscard]] std::size_t size() const noexcept { return names_.size(); }

private:
  std::map<std::string, std::uint32_t, std::less<>> ids_;
  std::vector<const std::string*> names_; // keys of ids_, which stay where they are
};

} // namespace troupe
