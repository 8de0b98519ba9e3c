#include "actors/simulation/work_ranges.hpp"

#include <algorithm>
#include <functional>

namespace troupe {

void work_ranges::add(std::uint64_t stream, std::uint64_t context, std::uint64_t number,
                      const command& c) {
  if (c.op == nullptr || c.op->ranges == nullptr) return;
  struct collector {
    std::deque<work>* all;
    work made;
  };
  collector into{&streams_[stream], {stream, number, context, c.kind, c.name, nullptr, 0}};
  const auto take = [](void* self, const access_range& range) {
    auto& to = *static_cast<collector*>(self);
    to.made.base = static_cast<const std::byte*>(range.base);
    to.made.bytes = range.bytes;
    if (range.bytes != 0) to.all->push_back(to.made);
  };
  c.op->ranges(c.payload(), access_sink{take, &into});
}

void work_ranges::end(std::uint64_t stream, std::uint64_t number) {
  const auto found = streams_.find(stream);
  if (found == streams_.end()) return;
  auto& all = found->second;
  while (!all.empty() && all.front().number <= number) all.pop_front();
  if (all.empty()) streams_.erase(found);
}

const work_ranges::work* work_ranges::find(const std::byte* base, std::size_t bytes,
                                           gsl::span<const part> known) const {
  const std::less<> before;
  for (const auto& [stream, all] : streams_) {
    std::uint64_t known_to = 0;
    for (const auto& each : known) {
      if (each.stream == stream) known_to = std::max(known_to, each.up_to);
    }
    for (const auto& each : all) {
      if (each.number <= known_to) continue;
      if (before(each.base, base + bytes) && before(base, each.base + each.bytes)) return &each;
    }
  }
  return nullptr;
}

} // namespace troupe
