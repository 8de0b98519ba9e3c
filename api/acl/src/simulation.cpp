// Simulated runs of programs of this interface: the session's runtime is the run's for as long.

#include <chrono>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <acl/acl.h>
#include <acl/troupe_simulation.h>
#include <gsl/gsl>

#include "api/acl/src/call.hpp"
#include "api/acl/src/device_set.hpp"
#include "api/acl/src/handle_table.hpp"
#include "api/acl/src/objects.hpp"
#include "api/acl/src/reservations.hpp"
#include "api/acl/src/session.hpp"
#include "core/faults/fault_plan.hpp"
#include "troupe/testing.hpp"

using namespace troupe;
using namespace troupe::acl;

namespace {

// The run in progress. Its clients take turns, so it needs no lock.
struct run_in_progress {
  testing::stage& play;
  std::vector<testing::client> clients;
};
run_in_progress* running = nullptr;

run_in_progress& run_here(const char* call) {
  if (running != nullptr) return *running;
  throw error(code::uninitialized, std::string(call) + ": no simulated run is in progress");
}

testing::simulation_options options_of(const troupeSimulation& how) {
  testing::simulation_options made;
  made.seed = how.seed;
  if (how.seed != 0) {
    made.choice = testing::order::explore;
    made.ends = testing::work_end::any_order;
  }
  if (how.stepsMax != 0) made.steps_max = how.stepsMax;
  made.runtime.devices.resize(1);  // of the stage's own runtime, which nobody uses
  return made;
}

std::string text_of(const std::exception_ptr& thrown) {
  try {
    std::rethrow_exception(thrown);
  } catch (const std::exception& e) {
    return std::string("thrown: ") + e.what();
  } catch (...) {
    return "thrown: something that is no std::exception";
  }
}

std::string trouble_of(const testing::simulation_report& seen) {
  if (seen.hang) return *seen.hang;
  if (seen.thrown) return text_of(seen.thrown);
  return seen.violations.empty() ? std::string() : describe(seen.violations.front());
}

void fill(troupeSimulationResult& to, const testing::simulation_report& seen,
          const std::string& trouble) {
  to = {};
  to.steps = seen.steps;
  to.nanoseconds = gsl::narrow<std::uint64_t>(seen.elapsed.count());
  to.order = seen.order_hash;
  for (const auto& each : seen.further_faults) to.faults += each.activations.size();
  to.hung = seen.hang ? 1 : 0;
  (void)trouble.copy(to.report, sizeof(to.report) - 1);
}

testing::simulation_report play_out(const troupeSimulation& how,
                                    const std::optional<fault_plan>& faults, void (*body)(void*),
                                    void* argument) {
  auto* const before = current_handle();
  set_current(nullptr, nullptr);
  auto& home = session::instance();
  auto& devices = device_set::instance();
  auto& ranges = reservations::instance();
  auto known_devices = devices.exchange({});
  auto known_ranges = ranges.exchange({});
  handle_table::instance().note_new();
  const auto after = gsl::finally([&] {
    running = nullptr;
    home.end_play();
    set_current(nullptr, nullptr);
    handle_table::instance().remove_noted(); // they would keep the run's devices
    (void)devices.exchange(std::move(known_devices));
    (void)ranges.exchange(std::move(known_ranges));
    if (before != nullptr) (void)aclrtSetCurrentContext(before);
  });
  return testing::try_simulate(options_of(how), [&](testing::stage& play) {
    run_in_progress here{play, {}};
    running = &here;
    home.begin_play(play, faults);
    body(argument);
  });
}

}  // namespace

aclError troupeSimulate(const troupeSimulation* how, void (*body)(void*), void* argument,
                        troupeSimulationResult* result) {
  return call([&]() -> status {
    if (how == nullptr || body == nullptr || result == nullptr) {
      return bad_argument("troupeSimulate: an argument is null");
    }
    if (running != nullptr) return unsupported("troupeSimulate", "a run within a run");
    std::optional<fault_plan> faults;
    if (how->faultPlan != nullptr) {
      auto read = fault_plan::from_file(how->faultPlan);
      if (!read) return read.error();
      faults = std::move(read).value();
    }
    const auto seen = play_out(*how, faults, body, argument);
    const auto trouble = trouble_of(seen);
    fill(*result, seen, trouble);
    return trouble.empty() ? status{} : make_status(code::internal_error, trouble);
  });
}

aclError troupeStartClient(const char* name, void (*body)(void*), void* argument,
                           uint32_t* client) {
  return call([&]() -> status {
    if (name == nullptr || body == nullptr || client == nullptr) {
      return bad_argument("troupeStartClient: an argument is null");
    }
    auto& here = run_here("troupeStartClient");
    here.clients.push_back(here.play.start_client(name, [body, argument] { body(argument); }));
    *client = gsl::narrow<std::uint32_t>(here.clients.size() - 1);
    return {};
  });
}

aclError troupeJoinClient(uint32_t client) {
  return call([&]() -> status {
    auto& here = run_here("troupeJoinClient");
    if (client >= here.clients.size()) {
      return bad_parameter("troupeJoinClient: there is no client " + std::to_string(client));
    }
    auto joined = here.clients[client];
    joined.join();
    return {};
  });
}

aclError troupePassTime(uint64_t nanoseconds) {
  return call([&]() -> status {
    const auto& here = run_here("troupePassTime");
    if (nanoseconds > static_cast<std::uint64_t>(INT64_MAX)) {
      return bad_parameter("troupePassTime: " + std::to_string(nanoseconds) + " nanoseconds");
    }
    here.play.pass_time(std::chrono::nanoseconds(nanoseconds));
    return {};
  });
}
