#include "troupe/unreported.hpp"

#include <utility>

#include "actors/context_record.hpp"
#include "actors/stream_record.hpp"
#include "api/src/states.hpp"

namespace troupe {

std::vector<status> take_unreported(const context& of) {
  std::vector<status> made;
  if (!of.state()) return made;
  auto& record = *of.state()->record;
  std::vector<context_record::stream_target> targets;
  for (auto& each : record.streams()) {
    const auto number = each->line()->submitted();
    targets.push_back({std::move(each), number});
  }
  for (;;) {
    auto next = record.take_first_failure(targets);
    if (next.ok()) return made;
    made.push_back(std::move(next));
  }
}

} // namespace troupe
