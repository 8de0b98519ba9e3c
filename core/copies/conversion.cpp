#include "core/copies/conversion.hpp"

#include <cmath>
#include <cstring>
#include <string>

#include "core/copies/vector_conversion.hpp"

namespace troupe {
namespace {

[[nodiscard]] std::int8_t quantised(float value, float scale) noexcept {
  const auto scaled = value / scale;
  if (std::isnan(scaled)) return 0;
  if (scaled >= 127) return 127;
  if (scaled <= -128) return -128;
  return static_cast<std::int8_t>(std::nearbyint(scaled));
}

template <class To, class From, class Each>
void each_element(std::byte* target, const std::byte* source, std::size_t count, Each each) {
  for (std::size_t i = 0; i < count; ++i) {
    From value;
    std::memcpy(&value, source + i * sizeof(From), sizeof(From));
    const To made = each(value);
    std::memcpy(target + i * sizeof(To), &made, sizeof(To));
  }
}

} // namespace

const char* to_string(number_type type) noexcept {
  switch (type) {
    case number_type::f32: return "f32";
    case number_type::f16: return "f16";
    case number_type::bf16: return "bf16";
    case number_type::i8: return "i8";
  }
  return "none";
}

status check_conversion(const conversion& how) {
  const auto known = [](number_type type) { return type <= number_type::i8; };
  const bool narrows = how.from == number_type::f32 && how.to != number_type::f32;
  const bool widens = how.to == number_type::f32 && how.from != number_type::f32;
  if (!known(how.from) || !known(how.to) || (!narrows && !widens)) {
    return make_status(code::invalid_parameter,
                       std::string("there is no conversion from ") + to_string(how.from) + " to " +
                           to_string(how.to) + "; f32 is converted to or from f16, bf16 or i8");
  }
  const bool scaled = how.from == number_type::i8 || how.to == number_type::i8;
  if (scaled ? std::isfinite(how.scale) && how.scale > 0 : how.scale == 1) return {};
  return make_status(code::invalid_parameter,
                     "a scale of " + std::to_string(how.scale) + " for a conversion from " +
                         to_string(how.from) + " to " + to_string(how.to) + ", which takes " +
                         (scaled ? "a finite one above 0" : "none but 1"));
}

void convert_plainly(void* target, const void* source, std::size_t count,
                     const conversion& how) noexcept {
  auto* to = static_cast<std::byte*>(target);
  const auto* from = static_cast<const std::byte*>(source);
  const auto scale = how.scale;
  switch (how.to) {
    case number_type::f16:
      return each_element<std::uint16_t, float>(to, from, count, detail::half_bits);
    case number_type::bf16:
      return each_element<std::uint16_t, float>(to, from, count, detail::bfloat16_bits);
    case number_type::i8:
      return each_element<std::int8_t, float>(
          to, from, count, [scale](float value) { return quantised(value, scale); });
    case number_type::f32: break;
  }
  switch (how.from) {
    case number_type::f16:
      return each_element<float, std::uint16_t>(to, from, count, detail::half_value);
    case number_type::bf16:
      return each_element<float, std::uint16_t>(to, from, count, [](std::uint16_t bits) {
        return static_cast<float>(bfloat16::of_bits(bits));
      });
    case number_type::i8:
      return each_element<float, std::int8_t>(
          to, from, count, [scale](std::int8_t value) { return static_cast<float>(value) * scale; });
    case number_type::f32: break;
  }
}

// Plainly up to where the target is aligned for stores around the cache, and after the last whole
// vector.
void convert(void* target, const void* source, std::size_t count, const conversion& how,
             write_path path) noexcept {
  auto* to = static_cast<std::byte*>(target);
  const auto* from = static_cast<const std::byte*>(source);
  std::size_t done = 0;
  const auto plainly = [&](std::size_t elements) {
    convert_plainly(to + done * size_of(how.to), from + done * size_of(how.from), elements, how);
    done += elements;
  };
  if (path == write_path::around_cache) plainly(elements_to_alignment(to, count, how.to));
  done += convert_vectors(to + done * size_of(how.to), from + done * size_of(how.from),
                          count - done, how, path);
  plainly(count - done);
}

} // namespace troupe
