// Programs about what goes wrong and what ends: aborts, failures, faults, destruction, shutdown.

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "tests/planted/jobs.hpp"
#include "troupe/troupe.hpp"

namespace troupe::planted {

using testing::stage;
using namespace std::chrono_literals;

namespace {

context context_on(stage& play, std::int64_t device) {
  return play.runtime().device(device).value().create_context().value();
}

status fails() { return make_status(code::kernel_exception, "it fails"); }

} // namespace

// An abort with work before and behind it, somebody who waits, and a stream that depends on it.
void aborted(stage& play) {
  auto ctx = context_on(play, 0);
  auto s = ctx.create_stream().value();
  auto dependent = ctx.create_stream().value();
  auto idle = ctx.create_stream().value();
  auto mark = ctx.create_event().value();
  struct counts {
    int dropped = 0, needs = 0, after = 0;
  };
  const auto ran = std::make_shared<counts>();
  s.launch("first", [] {}).or_throw();
  s.wait(play.runtime().create_signal()).or_throw();
  s.launch("dropped", [ran] { ++ran->dropped; }).or_throw();
  s.record(mark).or_throw();
  dependent.wait(mark).or_throw();
  dependent.launch("needs", [ran] { ++ran->needs; }).or_throw();
  status told, told_by_mark;
  auto waiter = play.start_client("waiter", [&] { told = s.synchronize(); });
  auto watcher = play.start_client("watcher", [&] { told_by_mark = mark.synchronize(); });
  s.abort().or_throw();
  idle.abort().or_throw();
  waiter.join();
  watcher.join();
  demand(told.ok() || told.code() == code::stream_abort, "who waits is told " + told.describe());
  demand(told_by_mark.code() == code::stream_abort,
         "who waits for a dropped event is told '" + told_by_mark.describe() + "'");
  for (auto* each : {&s, &idle}) {
    each->launch("after", [ran] { ++ran->after; }).or_throw();
    each->synchronize().or_throw();
  }
  demand(ran->after == 2, "behind the aborts ran " + std::to_string(ran->after) + " of 2 tasks");
  demand(ran->dropped == 0, "what was aborted ran");
  demand(ran->needs == 0, "a task ran whose ticket was dropped");
  dependent.abort().or_throw();
}

// Whatever comes first: a copy that is said to have run has run.
void copy_and_abort(stage& play) {
  auto ctx = context_on(play, 0);
  auto s = ctx.create_stream().value();
  const auto source = ctx.allocate<int>(64, initial::cleared).value();
  std::vector<int> target(64, 1);
  auto aborting = play.start_client("aborting", [&s] { s.abort().or_throw(); });
  const auto told = s.copy(target, source);
  aborting.join();
  demand(!told.ok() || target == std::vector<int>(64, 0), "a copy that did not run says success");
}

// Whatever comes first: who is told of an abort has lost something by it.
void work_and_abort(stage& play) {
  auto ctx = context_on(play, 0);
  auto s = ctx.create_stream().value();
  s.launch("work", [] {}).or_throw();
  status told;
  auto waiter = play.start_client("waiter", [&] { told = s.synchronize(); });
  s.abort().or_throw();
  waiter.join();
  s.synchronize().or_throw(); // until what was dropped has ended
  demand(told.ok() || s.counters().dropped == 1, "nothing was dropped, and told is " +
                                                     told.describe());
}

// A kernel that never returns is given up on, and is not said to have run.
void stuck(stage& play) {
  auto ctx = context_on(play, 0);
  auto s = ctx.create_stream().value();
  auto mark = ctx.create_event().value();
  s.launch("never", [] {}).or_throw();
  s.record(mark).or_throw();
  play.pass_time(1ms);
  s.abort().or_throw();
  s.launch("next", [] {}).or_throw();
  s.synchronize().or_throw();
  const auto dropped = mark.query();
  demand(dropped.error().code() == code::stream_abort,
         "the event behind a kernel that never ended " +
             std::string(dropped.ok() ? "was reached" : "says " + dropped.error().describe()));
}

void endings(stage& play) {
  auto ctx = context_on(play, 0);
  auto other = context_on(play, 0);
  const auto ran = std::make_shared<int>(0);
  auto draining = other.create_stream().value();
  for (int i = 0; i < 3; ++i) draining.launch("count", [ran] { ++*ran; }).or_throw();
  draining.destroy().or_throw();
  demand(*ran == 3, "a stream was destroyed after " + std::to_string(*ran) + " of 3 tasks");

  std::array<stream, 2> streams{ctx.create_stream().value(), ctx.create_stream().value()};
  std::array<status, 2> told;
  std::vector<testing::client> clients;
  for (std::size_t i = 0; i < streams.size(); ++i) {
    streams[i].wait(play.runtime().create_signal()).or_throw();
    clients.push_back(play.start_client("waiter " + std::to_string(i), [&streams, &told, i] {
      told[i] = streams[i].synchronize();
    }));
  }
  ctx.destroy().or_throw();
  for (auto& each : clients) each.join();
  for (const auto& each : told) demand(!each.ok(), "work of an ended context is said to be done");
}

void shutdown(stage& play) {
  std::array<status, 2> told;
  std::vector<testing::client> clients;
  for (std::size_t i = 0; i < told.size(); ++i) {
    auto ctx = context_on(play, static_cast<std::int64_t>(i));
    auto s = ctx.create_stream().value();
    s.wait(play.runtime().create_signal()).or_throw();
    clients.push_back(play.start_client("waiter " + std::to_string(i), [&told, ctx, s, i] {
      told[i] = s.synchronize();
    }));
  }
  play.pass_time(1ms);
  play.runtime().shutdown().or_throw();
  for (auto& each : clients) each.join();
  for (const auto& each : told) demand(!each.ok(), "work is said to be done after a shutdown");
}

void failures(stage& play) {
  auto ctx = context_on(play, 0);
  auto s = ctx.create_stream().value();
  s.launch("one", fails).or_throw();
  s.launch("two", fails).or_throw();
  const auto told = s.synchronize();
  demand(told.record() && told.record()->task_name == "one",
         "the first failure is said to be '" + told.describe() + "'");

  auto a = ctx.create_stream().value();
  auto b = ctx.create_stream().value();
  const auto order = std::make_shared<std::vector<std::uint64_t>>();
  for (auto* each : {&a, &b}) {
    each->launch("fails", [order, id = each->id()] {
      order->push_back(id);
      return fails();
    }).or_throw();
  }
  const auto first = ctx.synchronize();
  demand(first.record() && first.record()->stream == order->front(),
         "stream " + std::to_string(order->front()) + " failed first, and told is '" +
             first.describe() + "'");
}

// What fails between the call of a synchronise and its end is told by the next one.
void late_failure(stage& play) {
  auto ctx = context_on(play, 0);
  auto s = ctx.create_stream().value();
  const auto gate = play.runtime().create_signal();
  s.launch("early", fails).or_throw();
  s.wait(gate).or_throw();
  status first;
  auto waiter = play.start_client("waiter", [&] { first = s.synchronize(); });
  play.pass_time(1ms); // until it waits
  s.launch("late", fails).or_throw();
  gate.raise();
  waiter.join();
  const auto second = s.synchronize();
  demand(first.record() && first.record()->task_name == "early",
         "the early failure is told as '" + first.describe() + "'");
  demand(second.record() && second.record()->task_name == "late",
         "the late failure is told as '" + second.describe() + "'");
}

// A failure in stop mode ends its context and no other; who waited for it is told why.
void stop_mode(stage& play) {
  auto ctx = context_on(play, 0);
  auto other = context_on(play, 0);
  auto s = ctx.create_stream().value();
  auto bystander = other.create_stream().value();
  auto mark = ctx.create_event().value();
  s.set_failure_mode(failure_mode::stop).or_throw();
  const auto ran = std::make_shared<int>(0);
  const auto gate = play.runtime().create_signal();
  s.wait(gate).or_throw();
  s.launch("fails", fails).or_throw();
  s.launch("dropped", [] {}).or_throw();
  s.record(mark).or_throw();
  for (int i = 0; i < 3; ++i) bystander.launch("count", [ran] { ++*ran; }).or_throw();
  bystander.wait(mark).or_throw();
  bystander.launch("count", [ran] { ++*ran; }).or_throw();
  gate.raise();
  const auto told = s.synchronize();
  demand(told.code() == code::kernel_exception, "the failure is told as " + told.describe());
  const auto loss = bystander.synchronize();
  demand(*ran == 4, "of the other context's tasks ran " + std::to_string(*ran) + " of 4");
  demand(loss.code() == code::stream_abort, "a wait for what was dropped says " + loss.describe());
  const auto cause = loss.record()->cause;
  const auto* first = cause.get();
  while (first != nullptr && first->cause) first = first->cause.get();
  demand(first != nullptr && first->task_name == "fails",
         "the loss does not name its cause: " + loss.describe());
}

// Two streams under a fault: each task runs once at most, in order; what is said to have gone well
// has run; afterwards the streams take work.
void losses(stage& play) {
  static constexpr int tasks = 3;
  auto ctx = context_on(play, 0);
  std::array<stream, 2> streams{ctx.create_stream().value(), ctx.create_stream().value()};
  auto mark = ctx.create_event().value();
  const auto ran = std::make_shared<std::array<std::string, 2>>();
  bool all_taken = true;
  for (int i = 0; i < tasks; ++i) {
    for (std::size_t at = 0; at < streams.size(); ++at) {
      const auto name = static_cast<char>('a' + i);
      const auto taken = streams[at].launch("task", [ran, at, name] { (*ran)[at] += name; });
      all_taken = all_taken && taken.ok();
    }
    if (i == 0) {
      all_taken = streams[0].record(mark).ok() && all_taken;
      all_taken = streams[1].wait(mark).ok() && all_taken;
    }
  }
  for (std::size_t at = 0; at < streams.size(); ++at) {
    const auto told = streams[at].synchronize(2s);
    demand(told.code() != code::stream_sync_timeout, "what was lost is not found: " +
                                                         told.describe());
    const auto& seen = (*ran)[at];
    for (std::size_t i = 1; i < seen.size(); ++i) {
      demand(seen[i - 1] < seen[i], "of one stream ran, in this order, " + seen);
    }
    if (told.ok() && all_taken) {
      demand(seen == "abc", "all is said to have gone well, and what ran is '" + seen + "'");
    }
  }
  demand(play.elapsed() < 1s, "what was lost is found late");
  play.pass_time(1s); // and looked for once more
  for (auto& each : streams) {
    const auto after = std::make_shared<bool>(false);
    for (int i = 0; i < 3 && !*after; ++i) {
      const auto taken = each.launch("after", [after] { *after = true; });
      const auto told = each.synchronize();
      demand(*after || !taken.ok() || !told.ok(), "what comes afterwards did not run");
    }
    demand(*after, "stream " + std::to_string(each.id()) + " is not usable any more");
  }
}

} // namespace troupe::planted
