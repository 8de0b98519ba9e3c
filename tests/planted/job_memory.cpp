// Programs about who may use which memory when, and about what must be given back.

#include <algorithm>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "tests/planted/jobs.hpp"
#include "troupe/troupe.hpp"

namespace troupe::planted {

using testing::stage;

namespace {

constexpr std::size_t bytes = 1'000;

void write_sevens(std::span<char> all) { std::fill(all.begin(), all.end(), '7'); }

// Fills `target` with ones on `s` and demands that they are what can be read afterwards, whatever
// still goes on elsewhere.
template <class Memory>
void demand_own(stream& s, const Memory& target, stream& pending, const std::string& what) {
  s.launch("fill", [](std::span<char> all) { std::fill(all.begin(), all.end(), '1'); }, target)
      .or_throw();
  s.synchronize().or_throw();
  pending.synchronize().or_throw();
  std::vector<char> seen(bytes);
  s.copy(std::span(seen), target).or_throw();
  demand(std::count(seen.begin(), seen.end(), '1') == std::ptrdiff_t{bytes}, what);
}

} // namespace

void pool_blocks(stage& play) {
  auto ctx = play.runtime().device(0).value().create_context().value();
  auto mine = ctx.create_stream().value();
  auto other = ctx.create_stream().value();
  const auto pool = ctx.create_pool().value();
  {
    auto block = pool.allocate<char>(mine, bytes).value();
    other.launch("slow", write_sevens, block).or_throw();
  }
  demand_own(mine, pool.allocate<char>(mine, bytes).value(), other,
             "a block was reused before its use on another stream had ended");
  {
    auto block = pool.allocate<char>(other, bytes).value();
    other.launch("slow", write_sevens, block).or_throw();
  }
  demand_own(mine, pool.allocate<char>(mine, bytes).value(), other,
             "a block was reused on another stream before its own had passed the free");
  {
    auto free_for_all = pool.allocate<char>(mine, bytes).value();
    auto pending = pool.allocate<char>(other, bytes).value();
    other.launch("slow", write_sevens, pending).or_throw();
    auto dropped_first = std::move(free_for_all);
  }
  const auto one = pool.allocate<char>(mine, bytes).value();
  const auto two = pool.allocate<char>(mine, bytes).value();
  const auto three = pool.allocate<char>(mine, bytes).value();
  demand(one.data() != two.data() && two.data() != three.data() && one.data() != three.data(),
         "one block was handed out twice");
}

// Waits for events are an order for pools, but only for what came before the record, only from where
// the waiting stream was at, and only while the wait stands.
void followed_pool(stage& play) {
  auto ctx = play.runtime().device(0).value().create_context().value();
  auto mine = ctx.create_stream().value();
  auto between = ctx.create_stream().value();
  auto other = ctx.create_stream().value();
  const auto pool = ctx.create_pool().value();
  const auto early = ctx.create_event().value();
  const auto late = ctx.create_event().value();
  const auto passed = ctx.create_event().value();
  mine.record(early).or_throw();
  {
    auto block = pool.allocate<char>(mine, bytes).value();
    mine.launch("slow", write_sevens, block).or_throw();
  }
  mine.record(late).or_throw();
  other.wait(early).or_throw();
  between.launch("slow", [] {}).or_throw();
  between.record(passed).or_throw();
  between.wait(late).or_throw();
  other.wait(passed).or_throw(); // between had not waited then
  demand_own(other, pool.allocate<char>(other, bytes).value(), mine,
             "a block was reused by a stream whose wait was for less than its work");
  {
    auto block = pool.allocate<char>(mine, bytes).value();
    mine.launch("slow", write_sevens, block).or_throw();
  }
  mine.record(late).or_throw();
  other.wait(late).or_throw();
  other.abort().or_throw();
  demand_own(other, pool.allocate<char>(other, bytes).value(), mine,
             "a block was reused by a stream whose wait an abort had dropped");
}

// A stream takes its block again behind a wait for the block's use elsewhere, and drops the wait.
void overtaking(stage& play) {
  auto ctx = play.runtime().device(0).value().create_context().value();
  auto mine = ctx.create_stream().value();
  auto other = ctx.create_stream().value();
  const auto pool = ctx.create_pool().value();
  const auto used = ctx.create_event().value();
  auto block = pool.allocate<char>(mine, bytes).value();
  other.launch("slow", write_sevens, block).or_throw();
  other.record(used).or_throw();
  mine.wait(used).or_throw();
  block = {};
  block = pool.allocate<char>(mine, bytes).value();
  mine.abort().or_throw();
  mine.launch("fill", [](std::span<char> all) { std::fill(all.begin(), all.end(), '1'); }, block)
      .or_throw();
  const auto filled = mine.synchronize();
  other.synchronize().or_throw();
  if (filled.code() == code::device_task_abort) return; // it was kept off
  filled.or_throw();
  std::vector<char> seen(bytes);
  mine.copy(std::span(seen), block).or_throw();
  demand(std::count(seen.begin(), seen.end(), '1') == std::ptrdiff_t{bytes},
         "a block was used again before its use on another stream had ended");
}

void memory(stage& play) {
  auto device = play.runtime().device(0).value();
  auto ctx = device.create_context().value();
  auto s = ctx.create_stream().value();
  auto t = ctx.create_stream().value();
  {
    const auto freed = ctx.allocate<char>(bytes).value();
    s.launch("slow", write_sevens, freed).or_throw();
  }
  demand_own(t, ctx.allocate<char>(bytes).value(), s,
             "memory was reused before the work on it had ended");

  auto other = device.create_context().value();
  auto u = other.create_stream().value();
  const auto source = ctx.allocate<char>(bytes).value();
  s.launch("slow", write_sevens, source).or_throw();
  {
    const auto freed = other.allocate<char>(bytes).value();
    s.copy(freed, source).or_throw();
  }
  demand_own(u, other.allocate<char>(bytes).value(), s,
             "memory was reused before another context's copy to it had ended");
}

// Ordinary memory is the caller's again when the copy returns.
void host_copy(stage& play) {
  auto ctx = play.runtime().device(0).value().create_context().value();
  auto s = ctx.create_stream().value();
  const auto target = ctx.allocate<char>(bytes).value();
  std::vector<char> source(bytes, '1');
  s.launch("slow", [] {}).or_throw();
  s.copy(target, std::span(source)).or_throw();
  std::fill(source.begin(), source.end(), '7');
  s.synchronize().or_throw();
  demand(std::count(target.data(), target.data() + bytes, '1') == std::ptrdiff_t{bytes},
         "a copy read its source after it had returned");
}

void limits(stage& play) {
  auto ctx = play.runtime().device(0).value().create_context().value();
  for (int i = 0; i < 6; ++i) {
    auto s = ctx.create_stream();
    demand(s.ok(), "after " + std::to_string(i) + " streams that have ended: " +
                       s.error().describe());
    s.value().launch("work", [] {}).or_throw();
    s.value().destroy().or_throw();
  }
  for (int i = 0; i < 4; ++i) {
    auto e = ctx.create_event();
    demand(e.ok(), "after " + std::to_string(i) + " events that are gone: " + e.error().describe());
  }
  static constexpr std::size_t most_of_the_budget = std::size_t{3} << 20;
  for (std::int64_t i = 0; i < 2; ++i) {
    auto there = play.runtime().device(i).value().create_context().value();
    auto got = there.allocate<char>(most_of_the_budget);
    demand(got.ok(), "though everything was given back: " + got.error().describe());
    got.value().free().or_throw();
  }
}

} // namespace troupe::planted
