#include "tests/soak/workload.hpp"

#include <algorithm>
#include <chrono>
#include <set>
#include <span>
#include <utility>

namespace troupe::soak {

namespace {

/// What a call may answer when devices fail, are reset and are lost under it.
bool is_truthful(code c) {
  static const std::set<code> allowed{
      code::device_task_abort,  code::stream_abort,     code::invalid_handle,
      code::context_released,   code::context_null,     code::wait_timeout,
      code::task_timeout,       code::lost_heartbeat,   code::kernel_exception,
      code::resource_shortage,  code::device_out_of_memory, code::memory_allocation,
      code::hbm_multi_bit_ecc,  code::internal_error,   code::over_limit,
      code::stream_sync_timeout, code::event_sync_timeout};
  return allowed.contains(c);
}

} // namespace

unsigned visitor::below(unsigned end) {
  return static_cast<unsigned>(draw_() % end);
}

std::int64_t visitor::visit() {
  const auto where = home_.device(below(static_cast<unsigned>(home_.device_count()))).value();
  std::int64_t launch_ns = 0;
  auto outcome = status();
  try {
    outcome = work(where, launch_ns);
  } catch (const error& e) {
    outcome = e.outcome();
  }
  ++count_.visits;
  judge(outcome);
  // A device that was lost is usable after a reset only; now and then it happens to a healthy one.
  if (outcome.code() == code::lost_heartbeat || below(500) == 0) {
    if (where.reset().ok()) ++count_.resets;
  }
  return outcome.ok() ? launch_ns : 0;
}

status visitor::work(const device& where, std::int64_t& launch_ns) {
  const auto here = where.create_context().value();
  auto first = here.create_stream({below(8), 0}).value();
  auto second = here.create_stream().value();
  const auto memory = here.create_pool().value();

  const auto begun = std::chrono::steady_clock::now();
  first.launch("probe", [] {}).or_throw();
  first.synchronize(timeout(20'000)).or_throw();
  launch_ns = std::chrono::nanoseconds(std::chrono::steady_clock::now() - begun).count();

  for (auto left = 1 + below(8); left > 0; --left) {
    if (auto s = chain(here, memory, first, second); !s.ok()) return s;
  }
  return leave(here, first, second);
}

status visitor::chain(const context& here, const pool& memory, stream& first, stream& second) {
  const auto count = 1U + below(4096);
  const auto begin = below(1000);
  auto host = home_.allocate_host<unsigned>(count).value();
  std::ranges::fill(host, begin);
  const auto mark = here.create_event().value();
  const auto kept = here.allocate<unsigned>(count).value();
  const auto scratch = memory.allocate<unsigned>(first, count).value();
  const auto twice = [](std::span<const unsigned> in, std::span<unsigned> out) {
    std::ranges::transform(in, out.begin(), [](unsigned v) { return 2 * v; });
  };
  first.copy(scratch, host).or_throw();
  first.launch("twice", twice, scratch, kept).or_throw();
  first.callback("look", [] {}).or_throw();
  first.record(mark).or_throw();
  second.wait(mark).or_throw();
  second.copy(host, kept).or_throw();
  auto ended = second.synchronize(timeout(20'000));
  const auto before = first.synchronize(timeout(20'000));
  if (!ended.ok()) {
    // The memory goes back at once; the work that may still touch it does so in quarantine.
    (void)second.abort();
    return ended;
  }
  if (!before.ok()) return before;
  const auto wrong_at = std::ranges::find_if(host, [&](unsigned v) { return v != 2 * begin; });
  if (wrong_at != host.end()) {
    wrong("element " + std::to_string(wrong_at - host.begin()) + " of " + std::to_string(count) +
          " is " + std::to_string(*wrong_at) + ", not " + std::to_string(2 * begin) +
          ", with success");
  }
  return {};
}

status visitor::leave(const context& here, stream& first, stream& second) {
  switch (below(5)) {
    case 0:
      return here.destroy();
    case 1:
      return first.destroy(true);
    case 2:
      first.launch("left behind", [] {}).or_throw();
      return second.abort();
    case 3:
      return first.destroy();
    default:
      return {};
  }
}

void visitor::judge(const status& outcome) {
  if (outcome.ok()) {
    ++count_.right;
  } else if (is_truthful(outcome.code())) {
    ++count_.told;
  } else {
    wrong("a visit ended with " + outcome.describe());
  }
}

void visitor::wrong(std::string what) {
  ++count_.wrong;
  if (wrongs_.size() < 10) wrongs_.push_back(std::move(what));
}

} // namespace troupe::soak
