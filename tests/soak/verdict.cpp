#include "tests/soak/verdict.hpp"

#include <algorithm>
#include <cstddef>
#include <string_view>

namespace troupe::soak {

namespace {

constexpr std::size_t slack_bytes = 4U << 20U;

/// The greatest of a figure over some checkpoints.
template <class Figure>
std::size_t most(const std::vector<checkpoint>& points, std::size_t begin, std::size_t end,
                 Figure figure) {
  std::size_t found = 0;
  for (auto index = begin; index < end; ++index) found = std::max(found, figure(points[index].held));
  return found;
}

void expect_none(std::vector<std::string>& found, std::size_t interval, std::string_view what,
                 std::uint64_t held) {
  if (held == 0) return;
  found.push_back("after interval " + std::to_string(interval + 1) + ": " + std::to_string(held) +
                  " " + std::string(what) + " held while nothing is under way");
}

} // namespace

std::vector<std::string> not_flat(const std::vector<checkpoint>& points) {
  std::vector<std::string> found;
  for (std::size_t index = 0; index < points.size(); ++index) {
    const auto& held = points[index].held;
    expect_none(found, index, "streams", held.streams);
    expect_none(found, index, "events", held.events);
    expect_none(found, index, "bytes of device memory", held.device_bytes);
    expect_none(found, index, "bytes of pinned memory", held.host_bytes);
  }
  const auto third = points.size() / 3;
  if (third == 0) return found;
  const auto last = points.size() - third;
  const auto compare = [&](std::string_view what, auto figure, auto allowed) {
    const auto before = most(points, third, last, figure);
    const auto after = most(points, last, points.size(), figure);
    if (after <= allowed(before)) return;
    found.push_back(std::string(what) + " grew from " + std::to_string(before) + " to " +
                    std::to_string(after));
  };
  const auto same = [](std::size_t before) { return before; };
  compare("file descriptors", [](const vitals& v) { return v.descriptors; }, same);
  compare("threads", [](const vitals& v) { return v.threads; }, same);
  compare("resident bytes", [](const vitals& v) { return v.resident_bytes; },
          [](std::size_t before) { return before + before / 20 + slack_bytes; });
  return found;
}

} // namespace troupe::soak
