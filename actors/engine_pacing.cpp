#include "actors/engine_actor.hpp"

#include <utility>
#include <vector>

#include <gsl/gsl>

#include "actors/context_record.hpp"
#include "actors/device_record.hpp"
#include "actors/faults/fault_gate.hpp"
#include "actors/graphs/graph_replay.hpp"
#include "actors/machine.hpp"
#include "actors/payloads.hpp"
#include "actors/scheduling/spawn.hpp"
#include "actors/scheduling/work_pace.hpp"
#include "actors/simulation/witness.hpp"
#include "actors/stream_record.hpp"

namespace troupe {
namespace {

// Flips bits in what the command has written.
void corrupt(const command& c, const fault_activation& by) {
  if (c.op == nullptr || c.op->ranges == nullptr) return;
  std::vector<access_range> written;
  const auto keep = [](void* all, const access_range& range) {
    if (range.mode == access_mode::write && range.bytes != 0) {
      static_cast<std::vector<access_range>*>(all)->push_back(range);
    }
  };
  c.op->ranges(c.payload(), access_sink{keep, &written});
  if (written.empty()) return;
  const auto& hit = written[by.seed % written.size()];
  auto* base = static_cast<std::byte*>(const_cast<void*>(hit.base));
  (void)corrupt_bytes({base, hit.bytes}, by);
}

// The beginning of a copy is that of its first chunk.
bool begins(const command& c) { return !is_copy(c.kind) || c.as<copy_payload>().done == 0; }

} // namespace

void engine_actor::start_again(const status& why) {
  makes_way_ = true;
  ended_by_ = why;
  quit(caf::exit_reason::kill);
}

void engine_actor::look_around() {
  if (makes_way_) return;
  if (engaged_) {
    // Rung although it is engaged: the word that its work is over may have been lost.
    if (engaged_->due <= home_.time().now()) end_engagement(engaged_->number);
    return;
  }
  if (pace_ != nullptr) {
    serve_paced();
  } else {
    serve();
  }
}

void engine_actor::serve_paced() {
  const auto self = caf::actor_cast<caf::actor>(this);
  while (!engaged_ && !makes_way_) {
    const auto work = port_.next_or_idle(self, linger_);
    if (!work) return;
    turn_ = 0;
    work.stream->served_at.store(&port_, std::memory_order_release);
    drive(*work.stream, this);
  }
}

// -- before and after a command runs --------------------------------------------

// A fault finds each command, and each step of a graph, once.
engine_actor::strike engine_actor::what_befalls(stream_record& stream, const command& c) {
  if (gate_ == nullptr) return {};
  if (walking_ == nullptr) {
    return stream.begins_first(c.number) ? gate_->at_execute(stream, c, port_.kind()) : strike{};
  }
  if (!walking_->begins_first()) return {};
  return gate_->at_node(stream, *walking_, c, port_.kind());
}

std::optional<progress> engine_actor::before_running(stream_record& stream, command& c,
                                                     status& outcome) {
  if (due_number_ == c.number) {
    due_number_ = 0;
    if (due_outcome_) {
      outcome = *std::exchange(due_outcome_, {});
      return progress::ended;
    }
  } else {
    auto by = what_befalls(stream, c);
    const auto is = [&by](fault_kind kind) { return by && by->action.kind == kind; };
    if (is(fault_kind::kill_actor)) {
      ended_by_ = fault_gate::failure(*by, "the engine that ran it is gone");
      quit(caf::exit_reason::kill);
    }
    if (is(fault_kind::kill_actor) || is(fault_kind::never_complete)) {
      return engage(stream, c, never_ns);
    }
    if (is(fault_kind::restart_actor)) {
      start_again({});
      return progress::set_aside;
    }
    if (is(fault_kind::lose_device)) {
      outcome = stream.context().device().check_present();
      return progress::ended;
    }
    if (pace_ != nullptr) return engage_for(stream, c, std::move(by));
    if (const auto late = by ? gate_->late_until(*by) : std::nullopt) {
      return engage(stream, c, *late);
    }
    struck_ = std::move(by);
    began_ = struck_ ? home_.time().now() : 0;
  }
  if (struck_ && struck_->action.kind == fault_kind::fail_at_execution) {
    outcome = fault_gate::failure(*struck_, std::string("'") + c.name + "' was made to fail");
    struck_.reset();
    return progress::ended;
  }
  if (seen_ != nullptr && walking_ == nullptr && begins(c)) {
    seen_->note(happening::begun, stream, c);
  }
  return std::nullopt;
}

progress engine_actor::after_running(stream_record& stream, command& c, status& outcome) {
  if (seen_ != nullptr && walking_ == nullptr) seen_->note(happening::worked, stream, c);
  if (!struck_) return progress::ended;
  const auto by = *std::exchange(struck_, {});
  if (by.action.kind == fault_kind::corrupt) {
    corrupt(c, by);
    if (seen_ != nullptr) seen_->note(happening::corrupted, stream, c);
    if (by.action.detected) {
      outcome = fault_gate::failure(by, std::string("memory that '") + c.name +
                                            "' wrote has flipped bits");
    }
  }
  if (by.action.kind != fault_kind::slow || pace_ != nullptr) return progress::ended;
  const auto now = home_.time().now();
  const auto longer = static_cast<double>(now - began_) * (by.action.factor - 1);
  const auto went = engage(stream, c, after(now, static_cast<time_ns>(longer)));
  engaged_->done = std::move(outcome);
  return went;
}

// -- engagements ----------------------------------------------------------------

progress engine_actor::engage_for(stream_record& stream, const command& c, strike by) {
  const auto now = home_.time().now();
  auto cost = pace_->cost_of(stream, c, home_.copy_chunk_bytes());
  auto due = after(now, cost);
  if (by && by->action.kind == fault_kind::slow && cost != never_ns) {
    due = after(now, static_cast<time_ns>(static_cast<double>(cost) * by->action.factor));
  }
  if (const auto late = by ? gate_->late_until(*by) : std::nullopt) {
    due = cost == never_ns ? never_ns : after(std::max(*late, now), cost);
  }
  const auto went = engage(stream, c, due);
  engaged_->by = std::move(by);
  return went;
}

progress engine_actor::engage(stream_record& stream, const command& c, time_ns due) {
  Expects(!engaged_);
  engaged_ = engagement{stream.shared_from_this(), &stream.queue(), c.number, due, {}, {}};
  if (!busy_) load_.begin(home_.time().now());
  busy_ = true;
  load_.expect_end(due);
  stream.set_engaged(caf::actor_cast<caf::actor>(this));
  stream.running_name.store(c.name, std::memory_order_release);
  if (due == never_ns) return progress::engaged;
  auto ended = [self = caf::actor_cast<caf::actor>(this), number = c.number] {
    post(self, work_due{number});
  };
  if (pace_ != nullptr) {
    pace_->work_until(due, *this, std::move(ended));
  } else {
    (void)home_.scheduler().at_time(due, std::move(ended));
  }
  return progress::engaged;
}

void engine_actor::end_engagement(std::uint64_t number) {
  if (!engaged_ || engaged_->number != number) return;
  auto held = std::move(*engaged_);
  engaged_.reset();
  load_.end(home_.time().now());
  load_.expect_end(0);
  held.stream->set_engaged(nullptr);
  busy_ = false;
  if (held.stream->executes(number)) {
    due_number_ = number;
    due_outcome_ = std::move(held.done);
    struck_ = std::move(held.by);
    drive(*held.stream, this);
    due_number_ = 0;
    due_outcome_.reset();
    struck_.reset();
  } else {
    held.stream->abandoned_returned(held.queue, number); // it was given up on meanwhile
  }
  if (!engaged_) look_around();
}

} // namespace troupe
