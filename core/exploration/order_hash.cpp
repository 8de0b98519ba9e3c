#include "core/exploration/order_hash.hpp"

#include "core/exploration/seeded.hpp"

namespace troupe {
namespace {

std::uint64_t fnv1a(std::string_view text) noexcept {
  std::uint64_t hash = 0xcbf29ce484222325U;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
  return hash;
}

} // namespace

void order_hash::add(std::string_view channel, std::uint64_t ordinal, std::uint32_t kind,
                     std::uint64_t time) noexcept {
  // Scrambled between any two numbers, so that neither swapped steps nor a swapped ordinal and
  // time cancel out.
  for (const std::uint64_t part : {fnv1a(channel), ordinal, std::uint64_t{kind}, time})
    value_ = scramble(value_ ^ part);
}

} // namespace troupe
