#include "api/src/liveness.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <span>
#include <vector>

#include <gsl/gsl>

#include "actors/context_actor.hpp"
#include "actors/faults/fault_gate.hpp"
#include "actors/scheduling/spawn.hpp"
#include "api/src/runtime_maker.hpp"
#include "troupe/troupe.hpp"

namespace troupe::testing {
namespace {

using namespace std::chrono_literals;

constexpr std::uint64_t steps_max = 20'000;
constexpr std::size_t elements = 16;
constexpr time_ns settle_ns = 5'000'000'000; // engines that were given up on return meanwhile

// Bytes in, a kernel, an event to a second stream, a callback, bytes out.
status work_once(const device& where) {
  auto context = where.create_context();
  if (!context) return context.error();
  auto first = context.value().create_stream();
  auto second = context.value().create_stream();
  auto ready = context.value().create_event();
  auto data = context.value().allocate<std::int32_t>(elements);
  for (const auto& each : {first.error(), second.error(), ready.error(), data.error()}) {
    if (!each.ok()) return each;
  }
  const std::vector<std::int32_t> in(elements, 20);
  std::vector<std::int32_t> out(elements, 0);
  bool called = false;
  const auto add = [](std::span<std::int32_t> all) {
    for (auto& each : all) ++each;
  };
  auto& a = first.value();
  auto& b = second.value();
  if (auto s = a.copy(data.value(), std::span(in)); !s.ok()) return s;
  if (auto s = a.launch("liveness", add, data.value()); !s.ok()) return s;
  if (auto s = a.record(ready.value()); !s.ok()) return s;
  if (auto s = b.wait(ready.value()); !s.ok()) return s;
  if (auto s = b.callback("liveness", [&called] { called = true; }); !s.ok()) return s;
  if (auto s = b.copy(std::span(out), data.value()); !s.ok()) return s;
  for (auto* each : {&a, &b}) {
    if (auto s = each->synchronize(5s); !s.ok()) return s;
  }
  const bool right = called && std::all_of(out.begin(), out.end(), [](auto v) { return v == 21; });
  return right ? status{} : make_status(code::internal_error, "all said success, wrongly");
}

void reset(simulation& play, runtime& runtime, std::uint32_t index) {
  auto& record = runtime_maker::home_of(runtime).device_at(index);
  for (const auto& each : record.contexts()) {
    post(each->actor, destroy_context{no_reply<status>()});
  }
  (void)runtime.reset_device(index, true); // nothing to give back is no failure here
  completion never;
  (void)play.wait({&completion::ready, &never}, after(play.time().now(), settle_ns));
  record.stay();
  if (const auto device = runtime.device(index)) (void)device.value().reset(); // the next try tells
}

std::string try_device(simulation& play, runtime& runtime, std::uint32_t index) {
  const auto here = "device " + std::to_string(index) + ", once the faults had stopped: ";
  const auto before = play.steps();
  play.limit_steps(before + steps_max);
  const auto after = gsl::finally([&play] { play.forget_hang(); });
  try {
    const auto where = runtime.device(index);
    auto outcome = where ? work_once(where.value()) : where.error();
    play.forget_hang();
    if (!outcome.ok()) {
      reset(play, runtime, index);
      const auto again = runtime.device(index);
      outcome = again ? work_once(again.value()) : again.error();
    }
    return outcome.ok() ? std::string() : here + outcome.message();
  } catch (const simulated_hang& hang) {
    return here + hang.what();
  }
}

} // namespace

std::string try_devices(simulation& play, runtime& runtime) {
  auto& home = runtime_maker::home_of(runtime);
  if (home.gate() != nullptr) home.gate()->stop();
  std::string trouble;
  play.go_on_record(false);
  for (std::uint32_t i = 0; i < home.device_count() && trouble.empty(); ++i) {
    if (home.check_alive().ok() && home.is_open(i)) trouble = try_device(play, runtime, i);
  }
  // What is left of a try that failed is no matter of the run's.
  if (trouble.empty()) play.go_on_record(true);
  return trouble;
}

} // namespace troupe::testing
