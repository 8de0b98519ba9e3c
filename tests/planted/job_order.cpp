// Programs about what comes after what: tickets, deadlines, queues, priorities.

#include <algorithm>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "tests/planted/jobs.hpp"
#include "troupe/troupe.hpp"

namespace troupe::planted {

// What kernels write lives as long as the kernels, also where a job ends early by what it found.

using testing::stage;
using namespace std::chrono_literals;

namespace {

context first_context(stage& play) {
  return play.runtime().device(0).value().create_context().value();
}

} // namespace

void handover(stage& play) {
  auto ctx = first_context(play);
  auto writer = ctx.create_stream().value();
  auto reader = ctx.create_stream().value();
  auto ready = ctx.create_event().value();
  struct cells {
    int written = 0, read = -1;
  };
  const auto seen = std::make_shared<cells>();
  writer.launch("write", [seen] { seen->written = 42; }).or_throw();
  writer.record(ready).or_throw();
  reader.wait(ready).or_throw();
  reader.launch("read", [seen] { seen->read = seen->written; }).or_throw();
  ctx.synchronize().or_throw();
  demand(seen->read == 42, "the reader saw " + std::to_string(seen->read));
}

// The event's record stays what it was, whatever comes behind it.
void old_tickets(stage& play) {
  auto ctx = first_context(play);
  auto held = ctx.create_stream().value();
  auto waiting = ctx.create_stream().value();
  auto mark = ctx.create_event().value();
  const auto gate = play.runtime().create_signal();
  held.launch("before", [] {}).or_throw();
  held.record(mark).or_throw();
  held.wait(gate).or_throw();
  held.launch("behind", [] {}).or_throw();
  waiting.wait(mark).or_throw();
  held.record(mark).or_throw(); // a new meaning for later waits only
  waiting.synchronize().or_throw();
  gate.raise();
  ctx.synchronize().or_throw();
}

// A long way round: the first stream goes on only after the second, which waits for its beginning,
// while the third waits for its end.
void three_streams(stage& play) {
  auto ctx = first_context(play);
  auto first = ctx.create_stream().value();
  auto second = ctx.create_stream().value();
  auto third = ctx.create_stream().value();
  auto begun = ctx.create_event().value();
  auto back = ctx.create_event().value();
  auto over = ctx.create_event().value();
  const auto order = std::make_shared<std::string>();
  first.launch("a", [order] { *order += 'a'; }).or_throw();
  first.record(begun).or_throw();
  second.wait(begun).or_throw();
  second.launch("b", [order] { *order += 'b'; }).or_throw();
  second.record(back).or_throw();
  first.wait(back).or_throw();
  first.launch("c", [order] { *order += 'c'; }).or_throw();
  first.record(over).or_throw();
  third.wait(over).or_throw();
  third.launch("d", [order] { *order += 'd'; }).or_throw();
  ctx.synchronize().or_throw();
  demand(*order == "abcd", "the order was " + *order);
}

void stamps(stage& play) {
  auto ctx = first_context(play);
  auto early = ctx.create_stream().value();
  auto late = ctx.create_stream().value();
  auto start = ctx.create_event().value();
  auto mark = ctx.create_event().value();
  ctx.default_stream().value().record(start).or_throw();
  const auto began = play.elapsed();
  const auto ended = std::make_shared<std::chrono::nanoseconds>(0);
  late.launch("slow", [] {}).or_throw();
  late.record(mark).or_throw();
  late.record(mark).or_throw();
  early.launch("work", [ended, &play] { *ended = play.elapsed(); }).or_throw();
  early.record(mark).or_throw();
  const auto accepted = play.elapsed();
  ctx.synchronize().or_throw();
  // At once behind the kernel, unless the record came when that had ended long ago.
  using milliseconds = std::chrono::duration<double, std::milli>;
  const milliseconds least = *ended - began;
  const milliseconds most = std::max(*ended, accepted) - began;
  const auto told = mark.elapsed_since(start);
  demand(told.ok(), "no elapsed time: " + told.error().describe());
  demand(told.value() >= least && told.value() <= most,
         "elapsed are " + std::to_string(told.value().count()) + " ms instead of " +
             std::to_string(least.count()));
}

void deadlines(stage& play) {
  auto ctx = first_context(play);
  auto s = ctx.create_stream().value();
  const auto ran = std::make_shared<int>(0);
  s.launch("slow", [ran] { ++*ran; }).or_throw();
  (void)s.synchronize(1ms); // in time or not
  s.synchronize().or_throw();
  demand(*ran == 1, "after a wait that expired the work ran " + std::to_string(*ran) + " times");

  auto limited = ctx.create_stream().value();
  limited.wait(play.runtime().create_signal(), 5ms).or_throw();
  limited.launch("after", [] {}).or_throw();
  const auto expiry = limited.synchronize();
  demand(expiry.code() == code::task_timeout, "a wait that expired says " + expiry.describe());

  auto twice = ctx.create_stream().value();
  const auto one = play.runtime().create_signal();
  const auto two = play.runtime().create_signal();
  twice.wait(one, 100ms).or_throw();
  twice.wait(two).or_throw();
  play.pass_time(1ms);
  one.raise();
  play.pass_time(200ms);
  two.raise();
  const auto outcome = twice.synchronize();
  // Where work may end in any order, so may the first wait.
  const auto origin = outcome.record();
  demand(!origin || origin->task_number == 1,
         "a wait without a limit expired: " + outcome.describe());
}

void queue(stage& play) {
  auto ctx = first_context(play);
  auto s = ctx.create_stream().value();
  const auto order = std::make_shared<std::string>();
  std::string expected;
  for (char name = 'a'; name < 'a' + 12; ++name) {
    s.launch("step", [order, name] { *order += name; }).or_throw();
    expected += name;
  }
  s.synchronize().or_throw();
  demand(*order == expected, "the order was " + *order);

  stream_options shallow;
  shallow.queue_depth = 4;
  auto full = ctx.create_stream(shallow).value();
  const auto gate = play.runtime().create_signal();
  full.wait(gate).or_throw();
  for (int i = 0; i < 3; ++i) full.launch("fits", [] {}).or_throw();
  const auto refused = full.launch("too many", [] {});
  demand(refused.code() == code::queue_full, "a full queue says " + refused.describe());
  gate.raise();
  full.synchronize().or_throw();
}

// With one engine, what is greater in priority goes first among those that wait.
void priorities(stage& play) {
  auto ctx = first_context(play);
  stream_options least, greatest;
  least.priority = 7;
  greatest.priority = 0;
  auto low = ctx.create_stream(least).value();
  auto high = ctx.create_stream(greatest).value();
  const auto order = std::make_shared<std::string>();
  const auto gate = play.runtime().create_signal();
  low.wait(gate).or_throw();
  high.wait(gate).or_throw();
  low.launch("low", [order] { *order += 'l'; }).or_throw();
  high.launch("high", [order] { *order += 'h'; }).or_throw();
  gate.raise();
  ctx.synchronize().or_throw();
  demand(*order == "hl", "the order was " + *order);
}

void yielding_copy(stage& play) {
  static constexpr std::size_t bytes = 600 * 1024;
  auto ctx = first_context(play);
  stream_options least, greatest;
  least.priority = 7;
  greatest.priority = 0;
  auto low = ctx.create_stream(least).value();
  auto high = ctx.create_stream(greatest).value();
  auto from = play.runtime().allocate_host<char>(bytes).value();
  std::fill(from.begin(), from.end(), 'x');
  auto target = ctx.allocate<char>(bytes, initial::cleared).value();
  auto other = ctx.allocate<char>(16).value();
  auto small = play.runtime().allocate_host<char>(16).value();
  low.copy(target, from).or_throw();
  auto late = play.start_client("late", [&] { high.copy(other, small).or_throw(); });
  late.join();
  ctx.synchronize().or_throw();
  const auto* all = target.data();
  const auto missing = std::count(all, all + bytes, '\0');
  demand(missing == 0, std::to_string(missing) + " bytes were not copied");
}

void callbacks(stage& play) {
  auto ctx = first_context(play);
  auto s = ctx.create_stream().value();
  const auto order = std::make_shared<std::string>();
  s.launch("kernel", [order] { *order += 'k'; }).or_throw();
  s.callback("call", [order] { *order += 'c'; }).or_throw();
  s.launch("next", [order] { *order += 'n'; }).or_throw();
  s.synchronize().or_throw();
  demand(*order == "kcn", "the order was " + *order);
}

} // namespace troupe::planted
