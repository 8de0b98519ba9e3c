#include "actors/simulation/simulation.hpp"

#include <algorithm>
#include <sstream>
#include <stdexcept>

#include <gsl/gsl>

#include "actors/scheduling/actor_base.hpp"
#include "actors/scheduling/job.hpp"
#include "actors/simulation/sim_coordinator.hpp"
#include "actors/simulation/witness.hpp"
#include "core/exploration/plain_choosers.hpp"

namespace troupe {
namespace {

// The client that the calling thread is, and of which simulation.
thread_local simulation* playing_in = nullptr;
thread_local std::size_t playing_as = 0;

class as_client {
public:
  as_client(simulation& where, std::size_t number)
      : outer_in_(playing_in), outer_as_(playing_as) {
    playing_in = &where;
    playing_as = number;
  }
  ~as_client() {
    playing_in = outer_in_;
    playing_as = outer_as_;
  }
  as_client(const as_client&) = delete;
  as_client& operator=(const as_client&) = delete;

private:
  simulation* const outer_in_;
  const std::size_t outer_as_;
};

} // namespace

simulation::simulation(const chooser_maker& make, time_mode mode, cost_model costs)
    : chooser_(make(channels_)), mode_(mode), costs_(std::move(costs)),
      goes_on_(kinds_.intern("goes on")), fires_(kinds_.intern("fires")),
      ends_(kinds_.intern("ends")), starts_(kinds_.intern("starts")),
      timer_channel_(channels_.intern("timer")) {
  Expects(chooser_ != nullptr);
}

simulation::~simulation() { Expects(jobs_.empty()); }

// -- clients ------------------------------------------------------------------

bool simulation::is_client() const noexcept { return playing_in == this; }

void simulation::check_client() const {
  if (is_client()) return;
  throw std::logic_error("a thread that is no client of the simulation called its runtime; make "
                         "client threads with stage::start_client");
}

simulation::client& simulation::me() {
  check_client();
  return *clients_[playing_as];
}

void simulation::run(const std::function<void()>& body) {
  Expects(clients_.empty());
  auto main = std::make_unique<client>();
  main->name = "main";
  main->channel = channels_.intern("client main");
  clients_.push_back(std::move(main));
  const as_client here(*this, 0);
  std::exception_ptr thrown;
  try {
    body();
  } catch (...) {
    thrown = std::current_exception();
  }
  thrown = end_clients(thrown);
  for (std::size_t i = 0; i < lookouts_.size(); ++i) {
    if (const auto shut_down = lookouts_[i].shut_down) shut_down();
  }
  over_ = true;
  together_.reset();
  if (thrown) std::rethrow_exception(thrown);
}

std::exception_ptr simulation::end_clients(std::exception_ptr thrown) {
  auto& self = me();
  self.call = "the end of its body";
  self.let_gos = 0;
  for (std::size_t i = 1; i < clients_.size(); ++i) {
    auto& each = *clients_[i];
    if (each.joined && !each.failure) continue;
    while (!await_end_of(self, i)) {} // whoever goes on after a hang loses patience at last
    each.thread.join();
    each.joined = true;
    const auto failure = std::exchange(each.failure, nullptr);
    if (failure && (!thrown || tells_hang_only(thrown))) thrown = failure;
  }
  return thrown;
}

// A schedule tells clients apart by their names.
std::string simulation::name_of_its_own(const std::string& asked) const {
  const auto taken = [this](const std::string& name) {
    return std::any_of(clients_.begin(), clients_.end(),
                       [&](const auto& each) { return each->name == name; });
  };
  auto name = asked;
  for (int number = 2; taken(name); ++number) name = asked + " " + std::to_string(number);
  return name;
}

std::size_t simulation::start_client(std::string name, std::function<void()> body) {
  (void)me();
  const auto number = clients_.size();
  name = name_of_its_own(name);
  auto made = std::make_unique<client>();
  made->channel = channels_.intern("client " + name);
  made->name = std::move(name);
  made->arrived = steps_;
  made->tenant = me().tenant;
  made->body = std::move(body);
  auto& who = *made;
  clients_.push_back(std::move(made));
  if (!together_) together_.emplace(); // by main: the first other client is always made by it
  who.thread.start([this, &who, number] {
    const as_client here(*this, number);
    serve(who);
  });
  return number;
}

void simulation::serve(client& who) {
  who.thread.await();
  try {
    if (who.doomed) throw simulated_hang(*hang_); // before it began
    who.body();
  } catch (...) {
    who.failure = std::current_exception();
    mark_end();
  }
  who.body = nullptr;
  who.done = true;
  let_things_happen(who);
}

void simulation::join_client(std::size_t number) {
  if (over_) return;
  Expects(number < clients_.size());
  auto& self = me();
  self.call = "client::join";
  auto& other = *clients_[number];
  // Whoever joins is let go with all others, and waits once more for those that clean up.
  if (!await_end_of(self, number) && !await_end_of(self, number)) {
    lose_patience(self);
    throw simulated_hang(*hang_);
  }
  other.thread.join();
  other.joined = true;
  if (other.failure) std::rethrow_exception(std::exchange(other.failure, nullptr));
}

bool simulation::await_end_of(client& self, std::size_t number) {
  struct ended {
    const client* who;
    static bool ready(const void* self) { return static_cast<const ended*>(self)->who->done; }
    static std::string text(const void* self) {
      return "the end of client '" + static_cast<const ended*>(self)->who->name + "'";
    }
  };
  const ended goal{clients_[number].get()};
  self.next_words = {&ended::text, &goal};
  const auto outer = std::exchange(self.joins, number);
  const auto back = gsl::finally([&] { self.joins = outer; });
  return wait_once(self, {&ended::ready, &goal}, never_ns);
}

std::uint32_t simulation::tenant_here() const {
  return is_client() ? clients_[playing_as]->tenant : 0;
}

bool simulation::pause() {
  auto& self = me();
  self.arrived = steps_;
  let_things_happen(self);
  self.let_go = std::exchange(self.doomed, false);
  if (self.let_go) lose_patience(self);
  return !self.let_go;
}

void simulation::look(const char* call, const ticket& goal) {
  if (playing_in == nullptr) return;
  playing_in->note_call(call);
  playing_in->note_look(goal);
  (void)playing_in->poll_pause();
}

bool simulation::poll_pause() {
  struct moved {
    const simulation* all;
    std::uint64_t since;
    static bool ready(const void* self) {
      const auto* goal = static_cast<const moved*>(self);
      return goal->all->steps_ != goal->since;
    }
  };
  const moved goal{this, steps_};
  auto& self = me();
  const auto outer = std::exchange(self.polls, true);
  const auto back = gsl::finally([&] { self.polls = outer; });
  (void)wait({&moved::ready, &goal}, never_ns);
  return !self.let_go;
}

// Who looks in vain may do next what others wait for. So the first looks in a row, between which
// nothing happens, let no time pass, and only very many are a hang.
bool simulation::end_a_poll(std::uint64_t in_vain_max) {
  if (polls_in_vain_ >= in_vain_max) return false;
  for (const auto& each : clients_) {
    if (each->done || !std::exchange(each->polls, false)) continue;
    each->ready = nullptr;
    ++polls_in_vain_;
    return true;
  }
  return false;
}

bool simulation::wait(const poll& ready, time_ns deadline) {
  auto& self = me();
  const bool came = wait_once(self, ready, deadline);
  if (self.let_go) lose_patience(self);
  return came;
}

// May be inside another wait of the same client, when it looks at something in a callback that it
// runs: also when it only lets things happen, as it has ended. Then it has not ended quite yet.
bool simulation::wait_once(client& self, const poll& ready, time_ns deadline) {
  const auto outer_ready = std::exchange(self.ready, &ready);
  const auto outer_deadline = std::exchange(self.deadline, deadline);
  self.waits.push_back({self.call, std::exchange(self.next_words, {}), self.polls,
                        std::exchange(self.next_line, nullptr), user_scope::here()});
  const bool outer_done = std::exchange(self.done, false);
  self.arrived = steps_;
  let_things_happen(self);
  self.ready = outer_ready;
  self.deadline = outer_deadline;
  self.waits.pop_back();
  self.done = outer_done;
  self.let_go = std::exchange(self.doomed, false);
  return ready();
}

// -- what happens -------------------------------------------------------------

bool simulation::is_ready(const client& who) const {
  if (who.done) return false;
  return who.doomed || who.ready == nullptr || (*who.ready)() || time_.now() >= who.deadline;
}

void simulation::offer_one(const offer& what, const choice& as) {
  offers_.push_back(what);
  choices_.push_back(as);
}

// Everything that may happen next.
void simulation::offer_all() {
  offers_.clear();
  choices_.clear();
  for (std::size_t i = 0; i < jobs_.size(); ++i) {
    const auto& each = jobs_[i];
    offer_one({source::job, i, 0}, {each.box->channel, each.box->handled + 1, each.arrived});
  }
  for (std::size_t i = 0; i < clients_.size(); ++i) {
    auto& each = *clients_[i];
    if (is_ready(each)) {
      if (each.ready_since < each.arrived) each.ready_since = steps_;
      offer_one({source::client, i, 0}, {each.channel, each.turns + 1, each.arrived});
    }
  }
  bool timer_offered = false; // timers fire in the order in which they are due
  for (const auto& [key, each] : pending_) {
    if (each.from == source::timer && std::exchange(timer_offered, true)) continue;
    const bool due = key.first <= time_.now();
    const bool early = each.from == source::work && mode_ == time_mode::free;
    if (!due && !early) {
      if (mode_ == time_mode::exact) break;
      continue;
    }
    offer_one({each.from, 0, key.second}, {each.channel, each.ordinal, each.arrived});
  }
}

bool simulation::advance() {
  auto next = pending_.empty() ? never_ns : pending_.begin()->first.first;
  for (const auto& each : clients_) {
    if (!each->done) next = std::min(next, each->deadline);
  }
  const bool stuck = next == never_ns;
  for (const auto& each : lookouts_) {
    if (each.look) next = std::min(next, each.next);
  }
  if (next == never_ns) return false;
  time_.advance_to(next);
  ++steps_;
  return look_out() || !stuck;
}

// Runs on the thread of whoever waits, until that client's turn comes; for a client that has ended,
// until another's has come or nobody is left.
void simulation::let_things_happen(client& self) {
  for (;;) {
    run_helpers();
    offer_all();
    if (offers_.empty() || steps_ >= steps_max_) {
      if (offers_.empty() &&
          (end_a_poll(polls_without_time) || advance() || end_a_poll(polls_in_vain_max))) {
        continue;
      }
      if (self.done && !anybody_left()) return;
      doom_all();
      continue;
    }
    const auto index = on_record_ ? chooser_->choose(choices_, steps_ + 1) : first_come(choices_);
    const auto what = offers_[index];
    ++steps_;
    if (on_record_) {
      lateness_.record(choices_, index, steps_);
      note(what, choices_[index]);
    }
    if (what.from != source::client) {
      happen(what);
      continue;
    }
    auto& next = *clients_[what.index];
    ++next.turns;
    if (&next == &self) return;
    const bool ended = self.done; // with the baton gone the client itself may be gone
    next.thread.give();
    if (!ended) self.thread.await();
    return;
  }
}

void simulation::happen(const offer& what) {
  polls_in_vain_ = 0;
  if (what.from == source::job) {
    run_one(what.index);
  } else {
    fire(what.id);
  }
}

// CAF's own helpers are no part of the play: what they have to do is done at once.
void simulation::run_helpers() {
  run_all([](const ready_job& each) { return each.box == nullptr; });
}

template <class Which>
void simulation::run_all(Which which) {
  for (;;) {
    const auto found = std::find_if(jobs_.begin(), jobs_.end(), which);
    if (found == jobs_.end()) return;
    run_one(gsl::narrow<std::size_t>(found - jobs_.begin()));
  }
}

void simulation::run_rest(sim_coordinator& owner) {
  run_all([&owner](const ready_job& each) { return each.owner == &owner; });
}

void simulation::run_one(std::size_t index) {
  const auto taken = jobs_[index];
  jobs_.erase(jobs_.begin() + gsl::narrow<std::ptrdiff_t>(index));
  if (auto* box = taken.box) {
    ++box->handled;
    if (!box->kinds.empty()) box->kinds.pop_front();
    if (!box->sent_at.empty()) box->sent_at.pop_front();
  }
  taken.owner->run(taken.job);
}

void simulation::fire(timer_queue::timer_id id) {
  const auto due = due_.find(id);
  Expects(due != due_.end());
  const auto found = pending_.find({due->second, id});
  auto action = std::move(found->second.action);
  time_.advance_to(due->second);
  pending_.erase(found);
  due_.erase(due);
  action();
}

std::uint32_t simulation::kind_of(const offer& what) {
  switch (what.from) {
    case source::client: return goes_on_;
    case source::timer: return fires_;
    case source::work: return ends_;
    case source::job: break;
  }
  const auto& box = *jobs_[what.index].box;
  return box.kinds.empty() ? starts_ : box.kinds.front();
}

void simulation::note(const offer& what, const choice& as) {
  const auto kind = kind_of(what);
  const auto now = time_.now() - virtual_clock::start;
  order_.add(channels_.name(as.channel), as.ordinal, kind, gsl::narrow<std::uint64_t>(now));
  if (measures_ && what.from == source::job) {
    cover(*cast_member(jobs_[what.index].job), kinds_.name(kind));
  }
  if (!keeps_trace_) return;
  std::ostringstream line;
  line << now << " ns: " << channels_.name(as.channel) << " #" << as.ordinal << ' '
       << kinds_.name(kind);
  trace_.push_back(std::move(line).str());
  causes_.push_back({steps_, cause_of(what, as), as.channel});
}

} // namespace troupe
