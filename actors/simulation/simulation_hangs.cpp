// The part of `simulation` that is about what got lost and who waits for ever.

#include <algorithm>
#include <sstream>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "actors/simulation/circles.hpp"
#include "actors/simulation/simulation.hpp"
#include "actors/ticket.hpp"

namespace troupe {
namespace {

std::string text_of(const std::exception_ptr& thrown) {
  try {
    std::rethrow_exception(thrown);
  } catch (const std::exception& e) {
    return e.what();
  } catch (const simulated_hang& e) {
    return e.what();
  } catch (...) {
    return "an exception of unknown type";
  }
}

std::string in_call(const char* call) {
  return call != nullptr ? std::string(" in ") + call : std::string();
}

[[noreturn]] void say_last(const std::string& words) { throw std::runtime_error(words); }

} // namespace

// -- looking for losses -----------------------------------------------------------

bool simulation::look_out() {
  bool found = false;
  for (auto& each : lookouts_) {
    if (!each.look || each.next > time_.now()) continue;
    each.next = after(time_.now(), each.interval);
    found |= each.look();
  }
  return found;
}

std::size_t simulation::enlist(std::function<std::string()> describe,
                               std::function<void()> shut_down) {
  lookouts_.push_back({0, never_ns, nullptr, std::move(describe), std::move(shut_down)});
  return lookouts_.size() - 1;
}

void simulation::look_every(std::size_t number, time_ns interval, std::function<bool()> look) {
  auto& entry = lookouts_[number];
  entry.interval = interval;
  entry.next = after(time_.now(), interval);
  entry.look = std::move(look);
}

void simulation::strike_off(std::size_t number) {
  lookouts_[number].look = nullptr;
  lookouts_[number].describe = nullptr;
  lookouts_[number].shut_down = nullptr;
}

// -- hangs --------------------------------------------------------------------

bool simulation::anybody_left() const {
  return std::any_of(clients_.begin(), clients_.end(),
                     [](const auto& each) { return !each->done; });
}

void simulation::doom_all() {
  mark_end();
  const bool out_of_steps = steps_ >= steps_max_;
  if (!hang_) {
    hang_step_ = std::min(steps_, steps_max_);
    hang_ = describe_hang(out_of_steps);
  }
  if (out_of_steps) steps_max_ = steps_ + steps_to_clean_up;
  for (const auto& each : clients_) {
    if (!each->done) each->doomed = true;
  }
}

status simulation::why_let_go() {
  if (!me().let_go || !hang_) return {};
  return make_status(code::wait_timeout, "the simulated run hangs: " + *hang_);
}

bool simulation::tells_hang_only(const std::exception_ptr& thrown) const {
  return hang_ && text_of(thrown).find(*hang_) != std::string::npos;
}

// While another exception is on its way nothing may be thrown.
void simulation::lose_patience(client& self) {
  ++self.let_gos;
  if (self.let_gos >= 2 * patience) give_up(*hang_);
  if (self.let_gos > patience && std::uncaught_exceptions() == 0) throw simulated_hang(*hang_);
}

// What leaves a function that throws nothing ends the process, which says what that was.
void simulation::give_up(const std::string& report) noexcept {
  say_last("a client of a simulated run goes on and on though the run hangs: " + report);
}

std::string simulation::describe_hang(bool out_of_steps) const {
  std::ostringstream report;
  if (out_of_steps) {
    report << "the run goes on after " << steps_max_ << " steps; who is left:";
  } else {
    report << "nothing can happen any more, and somebody waits:";
  }
  for (const auto& each : clients_) {
    if (!each->done) report << " client '" << each->name << "'";
  }
  for (const auto& each : clients_) report << describe_client(*each);
  report << describe_joins();
  for (const auto& each : lookouts_) {
    if (each.describe) report << each.describe();
  }
  return std::move(report).str();
}

std::string simulation::describe_client(const client& who) const {
  const auto name = "\n  client '" + who.name + "'";
  if (who.done) {
    return who.failure ? name + " has ended with an exception: " + text_of(who.failure) : "";
  }
  if (who.body != nullptr && who.turns == 0) return name + " has not begun";
  if (who.waits.empty()) {
    return name + in_call(who.call) + (is_ready(who) ? " could go on" : " looks in vain");
  }
  std::string text;
  for (const auto& each : who.waits) text += describe_wait(who, each);
  return text;
}

std::string simulation::describe_wait(const client& who, const wait_frame& its) const {
  auto text = "\n  client '" + who.name + "'";
  if (its.inside != nullptr) {
    const auto& task = *its.inside;
    const bool callback = task.kind == user_scope::what::callback;
    text = std::string(callback ? "\n  host callback '" : "\n  kernel '") + task.name +
           "' of stream " + std::to_string(task.stream) + ", on the thread of client '" + who.name +
           "',";
  }
  text += in_call(its.call);
  if (its.words.text != nullptr) {
    return text + (its.looks ? " looks in vain for " : " waits for ") +
           its.words.text(its.words.self);
  }
  const bool innermost = &its == &who.waits.back();
  return text + (innermost && is_ready(who) ? " could go on" : " looks in vain");
}

void simulation::note_look(const ticket& goal) {
  const auto text = [](const void* self) {
    const auto& at = *static_cast<const ticket*>(self);
    return at.line->name() + (at.line->what() == timeline_of::signal
                                  ? std::string(" to be raised")
                                  : " to reach number " + std::to_string(at.number));
  };
  note_wait({text, &goal});
  me().next_line = goal.line.get();
}

std::vector<simulation::look_of_task> simulation::looks_of_tasks() const {
  std::vector<look_of_task> all;
  for (const auto& who : clients_) {
    for (const auto& each : who->waits) {
      if (each.inside != nullptr && each.line != nullptr) {
        all.push_back({each.inside->stream, each.line});
      }
    }
  }
  return all;
}

// Clients that wait for each other's end.
std::string simulation::describe_joins() const {
  std::vector<std::size_t> next;
  for (const auto& each : clients_) next.push_back(each->done ? no_next : each->joins);
  std::string text;
  for (const auto& circle : circles_of(next)) {
    text += "\n  in a circle:";
    for (const auto each : circle) {
      text += " client '" + clients_[each]->name + "' waits for the end of";
    }
    text += " client '" + clients_[circle.front()]->name + "'";
  }
  return text;
}

} // namespace troupe
