#include "tests/simulation/reference_job.hpp"

#include <algorithm>
#include <span>

namespace troupe {
namespace {

using namespace std::chrono_literals;

// Adds to each element; what a sequence of these gives is easy to know.
void add_all(std::span<std::int64_t> data, std::int64_t value) {
  for (auto& each : data) each += value;
}

void add_other(std::span<std::int64_t> data, std::span<const std::int64_t> other) {
  for (std::size_t i = 0; i < data.size(); ++i) data[i] += other[i];
}

// What the two buffers hold after all rounds.
std::array<std::int64_t, 2> model() {
  std::int64_t a = 1;
  std::int64_t b = 2;
  for (int round = 0; round < reference_job::rounds; ++round) {
    a += round;
    a += 3;
    b += a;
    b += 7;
    a += 1;
    b += 1;
  }
  return {a, b};
}

// Whether the fault may have hit that device and context, by what is known of its victim.
bool may_be(const fault_victim& victim, std::uint64_t device, std::uint64_t context) {
  return victim.device.value_or(device) == device && victim.context.value_or(context) == context;
}

} // namespace

void reference_job::run(testing::stage& play) {
  sides_ = {};
  std::vector<testing::client> clients;
  for (std::size_t i = 0; i < sides; ++i) {
    clients.push_back(play.start_client("side " + std::to_string(i),
                                        [this, &play, i] { play_side(play, i); }));
  }
  for (auto& each : clients) each.join();
}

void reference_job::play_side(testing::stage& play, std::size_t index) {
  auto& seen = sides_[index];
  auto dev = play.runtime().device(static_cast<std::int64_t>(index));
  for (int tries = 0; tries < 2 && !dev; ++tries) {
    seen.failures.push_back(dev.error());
    dev = play.runtime().device(static_cast<std::int64_t>(index));
  }
  if (!dev) return;
  auto ctx = dev.value().create_context();
  for (int tries = 0; tries < 2 && !ctx; ++tries) {
    seen.failures.push_back(ctx.error());
    bring_back(seen, play, dev.value());
    ctx = dev.value().create_context();
  }
  if (!ctx) return look_for_rests(seen, dev.value());
  seen.context = ctx.value().id();
  rounds_on(seen, play, ctx.value());
  end_side(seen, play, ctx.value(), dev.value());
}

// After the faults: a small job, then everything is given back. The fault may strike here as well,
// so a second try counts, and at last one in a fresh context, after a reset.
void reference_job::end_side(side& seen, testing::stage& play, context& ctx, device& dev) {
  for (int tries = 0; tries < 3 && !seen.usable_after; ++tries) {
    if (tries == 2) bring_back(seen, play, dev);
    auto fresh = tries < 2 ? result<context>(ctx) : dev.create_context();
    auto again = fresh ? fresh.value().create_stream() : result<stream>(fresh.error());
    if (!again) {
      seen.failures.push_back(again.error());
      continue;
    }
    int ran = 0;
    auto outcome = again.value().launch("after", [&ran] { ++ran; });
    if (outcome.ok()) outcome = again.value().synchronize(5s);
    if (!outcome.ok()) seen.failures.push_back(outcome);
    seen.usable_after = outcome.ok() && ran == 1;
  }
  auto ended = ctx.destroy();
  if (!ended.ok()) {
    seen.failures.push_back(ended);
    (void)ctx.destroy(); // it may not have heard; one that a reset has ended says so
  }
  play.pass_time(5s); // an engine that was given up on may still be at work
  look_for_rests(seen, dev);
}

// A device that was lost may be away for a while yet.
void reference_job::bring_back(side& seen, const testing::stage& play, const device& dev) {
  auto reset = dev.reset();
  for (int tries = 0; tries < 3 && !reset.ok(); ++tries) {
    seen.failures.push_back(reset);
    play.pass_time(100ms);
    reset = dev.reset();
  }
}

void reference_job::look_for_rests(side& seen, const device& dev) {
  auto memory = dev.memory();
  if (!memory) memory = dev.memory(); // the fault may strike even here
  if (memory) seen.used_after = memory.value().used;
  seen.streams_after = dev.counters().streams;
}

void reference_job::rounds_on(side& seen, testing::stage& play, context& ctx) {
  const auto note = [&seen](const status& s) {
    if (!s.ok()) seen.failures.push_back(s);
    return s.ok();
  };
  auto a = ctx.create_stream();
  auto b = ctx.create_stream();
  auto ab = ctx.create_event();
  auto ba = ctx.create_event();
  auto pool = ctx.create_pool();
  for (const auto& each : {a.error(), b.error(), ab.error(), ba.error(), pool.error()}) {
    if (!note(each)) return;
  }
  auto data_a = ctx.allocate<std::int64_t>(elements);
  auto data_b = ctx.allocate<std::int64_t>(elements);
  if (!note(data_a.error()) || !note(data_b.error())) return;
  auto& first = a.value();
  auto& second = b.value();
  // Whoever waits without a limit is let go by somebody else in the end.
  bool over = false;
  auto watchdog = play.start_client("watchdog of context " + std::to_string(seen.context), [&] {
    for (int i = 0; i < 40 && !over; ++i) play.pass_time(500ms);
    if (over) return;
    (void)first.abort();
    (void)second.abort();
  });
  const std::vector<std::int64_t> ones(elements, 1);
  note(first.copy(data_a.value(), std::span(ones)));
  note(second.fill(data_b.value(), std::int64_t{2})); // a pattern of 8 bytes
  int callbacks = 0;
  for (std::int64_t round = 0; round < rounds; ++round) {
    note(first.launch("add round", add_all, data_a.value(), round));
    note(first.launch("add 3", add_all, data_a.value(), std::int64_t{3}));
    note(first.record(ab.value()));
    note(second.wait(ab.value()));
    note(second.launch("add other", add_other, data_b.value(), data_a.value()));
    note(second.record(ba.value()));
    note(second.launch("add 7", add_all, data_b.value(), std::int64_t{7}));
    note(first.wait(ba.value()));
    note(first.launch("add 1", add_all, data_a.value(), std::int64_t{1}));
    note(second.launch("add one", add_all, data_b.value(), std::int64_t{1}));
    if (round % 8 == 0) {
      auto scratch = pool.value().allocate<std::int64_t>(second, elements);
      if (note(scratch.error())) {
        note(second.launch("scratch", add_all, scratch.value(), std::int64_t{1}));
      }
      note(first.callback("count", [&callbacks] { ++callbacks; }));
    }
  }
  for (auto& each : seen.results) each.assign(elements, 0);
  bool all = note(first.copy(std::span(seen.results[0]), data_a.value()));
  all &= note(second.copy(std::span(seen.results[1]), data_b.value()));
  for (auto* each : {&first, &second}) {
    if (const auto s = each->synchronize(10s); !note(s)) {
      all = false;
      if (s.code() == code::stream_sync_timeout) note(each->abort());
    }
  }
  seen.complete = all && seen.failures.empty();
  // An abort with work behind it, which a later fixed workload must not notice.
  note(first.launch("dropped", [] {}));
  const auto aborted = first.abort();
  if (!aborted.ok()) seen.failures.push_back(aborted);
  over = true;
  watchdog.join();
}

std::string reference_job::verdict(const testing::simulation_report& report) const {
  const auto expected = model();
  for (std::size_t index = 0; index < sides; ++index) {
    const auto& each = sides_[index];
    const auto here = "context " + std::to_string(each.context) + ": ";
    const bool struck = report.faults.activations.empty() ||
                        may_be(report.faults.activations.front().victim, index, each.context);
    if (!each.failures.empty() && report.faults.activations.empty()) {
      return here + "fails without a fault: " + each.failures.front().describe();
    }
    if (!each.failures.empty() && !struck) {
      return here + "another context was hit, and this one says " +
             each.failures.front().describe();
    }
    if (each.complete) {
      for (std::size_t i = 0; i < 2; ++i) {
        const auto& got = each.results[i];
        if (!std::all_of(got.begin(), got.end(), [&](auto v) { return v == expected[i]; })) {
          return here + "all said success, and the bytes are wrong: " + std::to_string(got[0]) +
                 " instead of " + std::to_string(expected[i]);
        }
      }
    }
    if (each.context != 0 && !each.usable_after) return here + "is not usable any more";
    if (each.used_after != 0) {
      return here + std::to_string(each.used_after) + " bytes are still in use";
    }
    if (each.streams_after != 0) {
      return here + std::to_string(each.streams_after) + " streams are still there";
    }
  }
  return {};
}

} // namespace troupe
