#include "actors/notifier_actor.hpp"

namespace troupe {

caf::behavior notifier_actor::handlers() {
  return {
      on<task_failed>([this](task_failed& m) { listeners_.tell(*m.failure.record()); }),
      on<settle_notices>([](settle_notices& m) { m.answer(status{}); }),
  };
}

} // namespace troupe
