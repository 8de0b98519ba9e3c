#include "actors/waiting.hpp"

#include <string>

#include "actors/simulation/witness.hpp"

namespace troupe {
namespace {

// One sleeping host thread. Shared with the timeline, so that a late notice finds it alive.
class host_waiter final : public ticket_listener {
public:
  completion point;

private:
  void on_ticket(ticket_state) noexcept override { point.set(); }
};

struct goal {
  const timeline* line;
  std::uint64_t number;
  std::uint64_t aborts;

  [[nodiscard]] bool met() const {
    return line->completed() >= number || line->abort_count() != aborts;
  }
  static bool ready(const void* self) { return static_cast<const goal*>(self)->met(); }
  static std::string text(const void* self) {
    const auto& sought = *static_cast<const goal*>(self);
    if (sought.line->id() == 0) return "the end of the runtime";
    return sought.line->name() + " to reach number " + std::to_string(sought.number);
  }
};

// What a host thread is told about a stream goes on record in a simulated run.
void note_told(waiting_room& room, const timeline& line, std::uint64_t number) {
  auto* seen = room.seen();
  if (seen != nullptr && line.id() != 0 && line.what() == timeline_of::stream) {
    seen->told(line.id(), number);
  }
}

wait_end classify(const goal& sought) {
  const auto& line = *sought.line;
  const bool aborted = line.abort_count() != sought.aborts && line.aborted() >= sought.number;
  if (aborted && line.state_of(sought.number) == ticket_state::dropped) {
    return wait_end::interrupted;
  }
  return line.completed() >= sought.number ? wait_end::reached : wait_end::expired;
}

} // namespace

wait_end wait_for_number(waiting_room& room, timeline& line, std::uint64_t number,
                         time_ns deadline) {
  const goal sought{&line, number, line.abort_count()};
  if (line.completed() >= number) return wait_end::reached;
  const timeline::impatience waiting(line);
  bool let_go = false;
  const lending_scope lending(room);
  if (!room.poll_for({&goal::ready, &sought}, deadline)) {
    const auto waiter = std::make_shared<host_waiter>();
    if (line.subscribe(number, waiter, listener_kind::host)) {
      // An abort between the first look and the subscription told nobody.
      if (!sought.met()) {
        room.note_wait({&goal::text, &sought});
        room.sleep_on(waiter->point, deadline);
        let_go = !room.why_let_go().ok();
      }
      line.unsubscribe(waiter.get());
    }
  }
  auto end = classify(sought);
  if (let_go && end == wait_end::expired) end = wait_end::let_go;
  if (end == wait_end::reached) note_told(room, line, number);
  return end;
}

} // namespace troupe
