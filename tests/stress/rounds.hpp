#pragma once

#include <cstdint>
#include <cstdlib>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include <caf/actor_registry.hpp>
#include <gtest/gtest.h>

#include "actors/machine.hpp"
#include "actors/scheduling/actor_base.hpp"
#include "tests/support/stage.hpp"

namespace troupe {

/// Steps of each client thread: TROUPE_STRESS_ROUNDS, or `otherwise`.
inline unsigned stress_rounds(unsigned otherwise) {
  const char* text = std::getenv("TROUPE_STRESS_ROUNDS");
  return text == nullptr ? otherwise : static_cast<unsigned>(std::stoul(text));
}

/// The seeds of this run: TROUPE_STRESS_SEED alone, or a fixed list and, if given,
/// --gtest_random_seed.
inline std::vector<std::uint64_t> stress_seeds() {
  if (const char* text = std::getenv("TROUPE_STRESS_SEED")) return {std::stoull(text)};
  std::vector<std::uint64_t> seeds{1, 2, 3, 4, 5, 6};
  if (const auto given = GTEST_FLAG_GET(random_seed); given != 0) {
    seeds.push_back(static_cast<std::uint64_t>(given) + 1'000'000);
  }
  return seeds;
}

/// What a call may report about a stream or context that others abort and destroy meanwhile.
inline bool is_fair_reply(const status& s) {
  static const std::set<code> fair{code::success,        code::device_task_abort,
                                   code::stream_abort,   code::invalid_handle,
                                   code::context_released, code::context_null};
  return fair.count(s.code()) != 0;
}

/// Returns once `holds` is true. There is no limit: what never comes is a hang of the test.
template <class Condition>
void await(Condition holds) {
  while (!holds()) std::this_thread::yield();
}

/// Returns once `rt`, whose user has let go of everything, has nothing left but its devices.
inline void await_empty(const runtime& rt) {
  await([&] { return rt.host_memory().value().used == 0; });
  std::size_t engines = 0;
  for (std::size_t i = 0; i < rt.device_count(); ++i) {
    const auto dev = rt.device(static_cast<std::int64_t>(i)).value();
    await([&] { return dev.counters().streams == 0; });
    await([&] { return dev.counters().events == 0; });
    await([&] { return dev.memory().value().used == 0; });
    EXPECT_EQ(dev.memory().value().quarantined, 0U);
    const auto seen = dev.counters();
    for (const auto* each :
         {&seen.compute, &seen.dma_h2d, &seen.dma_d2h, &seen.dma_d2d, &seen.callback}) {
      EXPECT_EQ(each->waiting, 0U);
      engines += each->engines;
    }
  }
  // The root and the host memory; a device and its memory each; engines.
  const auto keeper = rt.device(0).value().create_context().value();
  auto& registry = keeper.state()->home->system().registry();
  const auto cast = 2 + 2 * rt.device_count() + engines;
  EXPECT_TRUE(keeper.destroy().ok());
  await([&] { return registry.running() == cast; });
  EXPECT_EQ(actor_base::unexpected_messages(), 0U);
}

} // namespace troupe
