#include "core/tensors/element_type.hpp"

#include <array>

#include <gsl/gsl>

namespace troupe {
namespace {

struct row {
  std::string_view name;
  std::size_t bytes;
};

constexpr std::array rows{row{"f32", 4}, row{"f16", 2}, row{"bf16", 2},
                          row{"s32", 4}, row{"s8", 1},  row{"u8", 1}};

const row& row_of(element_type type) noexcept {
  const auto index = static_cast<std::size_t>(type);
  Expects(index < rows.size());
  return rows[index];
}

} // namespace

std::string_view to_string(element_type type) noexcept { return row_of(type).name; }

std::size_t bytes_of_element(element_type type) noexcept { return row_of(type).bytes; }

} // namespace troupe
