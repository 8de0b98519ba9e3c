#include "actors/notifier_actor.hpp"

#include "actors/machine.hpp"

namespace troupe {

void notifier_actor::on_exit() {
  home_.notifier_died();
  announce_release(this);
}

caf::behavior notifier_actor::handlers() {
  return {
      on<task_failed>([this](task_failed& m) {
        m.answer(status{});
        home_.listeners().tell(*m.failure.record());
      }),
      on<settle_notices>([](settle_notices& m) { m.answer(status{}); }),
  };
}

} // namespace troupe
