#include "api/python/src/work_stream.hpp"

#include <list>

#include "api/python/src/interruption.hpp"

namespace troupe::python {
namespace {

using kept_objects = std::deque<std::pair<std::uint64_t, py::object>>;

struct orphan {
  stream on;
  kept_objects kept;
};

// By the GIL. Not destroyed: what is still kept as the process ends is not touched any more.
std::list<orphan>& orphans() {
  static auto* made = new std::list<orphan>;
  return *made;
}

// An object's end may run any code: it happens when the list is in order again.
void let_go_until(std::uint64_t number, kept_objects& kept) {
  while (!kept.empty() && kept.front().first <= number) {
    const auto ended = std::move(kept.front().second);
    kept.pop_front();
  }
}

} // namespace

work_stream::~work_stream() {
  if (python_is_open()) {
    let_go_ended();
    if (!kept_.empty()) orphans().push_back({on_, std::move(kept_)});
  } else {
    for (auto& each : kept_) each.second.release();
  }
  let_go(on_);
}

void work_stream::keep(py::object object) {
  kept_.emplace_back(on_.counters().submitted, std::move(object));
}

void work_stream::let_go_ended() {
  if (!kept_.empty()) let_go_until(on_.counters().completed, kept_);
}

void work_stream::synchronize(timeout limit) {
  wait_for(home_->live(), limit, code::stream_sync_timeout,
           [this](timeout step) { return on_.synchronize(step); });
  let_go_ended();
  let_go_orphans();
}

void let_go_orphans() {
  // The end of what is kept runs any code, and other threads: they find the list without these.
  std::list<orphan> mine;
  mine.swap(orphans());
  while (!mine.empty()) {
    auto one = std::move(mine.front());
    mine.pop_front();
    let_go_until(one.on.counters().completed, one.kept);
    if (!one.kept.empty()) orphans().push_back({one.on, std::move(one.kept)});
    let_go(one.on);
  }
}

} // namespace troupe::python
