#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <caf/resumable.hpp>

#include "actors/scheduling/clock.hpp"
#include "actors/scheduling/completion.hpp"
#include "actors/scheduling/timer_queue.hpp"
#include "actors/scheduling/wire.hpp"
#include "actors/simulation/one_core.hpp"
#include "actors/simulation/player_thread.hpp"
#include "actors/user_scope.hpp"
#include "core/cost_model.hpp"
#include "core/exploration/causal_chain.hpp"
#include "core/exploration/channel_table.hpp"
#include "core/exploration/choice.hpp"
#include "core/exploration/chooser.hpp"
#include "core/exploration/lateness_recorder.hpp"
#include "core/exploration/order_hash.hpp"
#include "core/exploration/run_coverage.hpp"
#include "core/exploration/run_record.hpp"
#include "core/faults/fault_report.hpp"
#include "core/exploration/simulated_hang.hpp"
#include "core/status.hpp"

namespace caf {
class actor_system;
} // namespace caf

namespace troupe {

class actor_base;
class command;
class scheduler;
class sim_coordinator;
class stream_record;
class timeline;
class witness;
struct ticket;

/// Device time of a simulated run: stands still while anything can happen, then jumps.
class virtual_clock final : public clock {
public:
  static constexpr time_ns start = 1'000'000'000;

  [[nodiscard]] time_ns now() const noexcept override { return now_; }
  void advance_to(time_ns at) noexcept { now_ = std::max(now_, at); }

private:
  time_ns now_ = start;
};

/// When work in progress may end.
enum class time_mode : unsigned char {
  exact, ///< in the order of the modelled durations
  free,  ///< whenever the chooser says: durations say only what comes first by default
};

/// Decides everything that happens in a simulated run: which actor handles its next message, which
/// client thread goes on, which work ends, what time it is. One thing happens at a time, chosen by
/// the chooser, so that a run is a function of the program, the chooser and the faults.
///
/// There is no thread of its own: the client threads pass a baton, and whoever waits lets things
/// happen until its turn comes. All state is touched by the holder of the baton only.
class simulation final : public wire, public std::enable_shared_from_this<simulation> {
public:
  using chooser_maker = std::function<std::unique_ptr<chooser>(const channel_table& names)>;

  simulation(const chooser_maker& make, time_mode mode, cost_model costs);
  ~simulation() override;
  simulation(const simulation&) = delete;
  simulation& operator=(const simulation&) = delete;

  [[nodiscard]] const virtual_clock& time() const noexcept { return time_; }
  [[nodiscard]] std::uint64_t steps() const noexcept { return steps_; }
  [[nodiscard]] const order_hash& order() const noexcept { return order_; }
  [[nodiscard]] const std::vector<std::string>& trace() const noexcept { return trace_; }
  void keep_trace(bool keep) noexcept { keeps_trace_ = keep; }

  /// Counts which messages meet actors in which state; costs about as much as the run.
  void measure_coverage(bool measure) noexcept { measures_ = measure; }
  [[nodiscard]] const run_coverage& covered() const noexcept { return covered_; }

  /// Of a kept trace, the lines that led to what ended the run: each step sent what the next is
  /// about. The run's end is where `mark_end` was called first: what comes later is cleaning up.
  [[nodiscard]] std::vector<std::string> chain() const;
  void mark_end() noexcept {
    if (end_step_ == 0) end_step_ = steps_;
  }

  /// What happened, for oracles; those who put it there are made by `watch_runtime`, each for one
  /// more runtime of this simulation, and live as long as it does.
  [[nodiscard]] run_record& record() noexcept { return record_; }
  [[nodiscard]] witness* watch_runtime();

  /// What the plans of all runtimes but the first did, of those that have one.
  [[nodiscard]] std::vector<fault_report> further_faults() const;

  /// Whether what happens goes into order, schedule and trace. Off the record it goes first come,
  /// first served.
  void go_on_record(bool on) noexcept { on_record_ = on; }
  [[nodiscard]] bool goes_on_record() const noexcept { return on_record_; }

  /// The schedule so far as a line that replays it.
  /// What of a script that is replayed has not come up; see `chooser::unmet`.
  [[nodiscard]] std::vector<std::string> unmet() const { return chooser_->unmet(); }
  [[nodiscard]] std::string script() const { return to_string(lateness_.script(channels_)); }

  /// A run of more steps counts as hung.
  void limit_steps(std::uint64_t steps_max) noexcept { steps_max_ = steps_max; }

  // -- hangs ------------------------------------------------------------------

  // When nothing can happen any more, or the steps are used up, everybody who waits is let go: the
  // first time that is the run's hang. What is left then goes on as ever, so that the clients can
  // clean up. A client that was let go `patience` times gets a `simulated_hang` out of each further
  // wait, and at twice that the process ends, with the report as its last words.

  /// Who waited for what when the run hung, and after how many steps; none while it has not.
  [[nodiscard]] const std::optional<std::string>& hang() const noexcept { return hang_; }
  [[nodiscard]] std::uint64_t hang_step() const noexcept { return hang_step_; }

  /// Takes the hang back: what hung was no matter of the run's.
  void forget_hang() noexcept { hang_.reset(); }

  /// 107019 with the report if the last wait of the calling client was let go, else success.
  [[nodiscard]] status why_let_go();

  /// Whether all that `thrown` has to say is that the run hung.
  [[nodiscard]] bool tells_hang_only(const std::exception_ptr& thrown) const;

  // -- clients ----------------------------------------------------------------

  /// Runs `body` on the calling thread as the client "main" and then lets the others end, and the
  /// runtimes that are left. Throws what a client threw.
  void run(const std::function<void()>& body);

  /// Waits until all other clients have ended. What was thrown first: `thrown`, unless that tells
  /// of a hang only, or what a client threw that nobody has joined. By "main".
  [[nodiscard]] std::exception_ptr end_clients(std::exception_ptr thrown);

  /// Whether `run` has returned.
  [[nodiscard]] bool over() const noexcept { return over_; }

  /// Throws `std::logic_error` on a thread that is no client of this simulation.
  void check_client() const;

  /// Makes a client thread that will run `body` when chosen; any client. Its number. If there is one
  /// of that name, it gets a number behind its name.
  std::size_t start_client(std::string name, std::function<void()> body);

  /// Makes the calling client, and those that it starts from now on, one of tenant `number`'s; and
  /// whose the calling client is: 0 for nobody's, also on a thread that is no client.
  void serve_tenant(std::uint32_t number) { me().tenant = number; }
  [[nodiscard]] std::uint32_t tenant_here() const;

  /// Whether all clients but the calling one have ended.
  [[nodiscard]] bool alone() const;

  /// Waits until that client has ended; rethrows what it threw. Nothing after the run. A hang lets
  /// go of it only if that client does not end afterwards: throws `simulated_hang`.
  void join_client(std::size_t number);

  /// What the calling client calls, for hang reports; lives for ever.
  void note_call(const char* call) { me().call = call; }

  /// What its next wait is for; or look, at a ticket that lives until then.
  void note_wait(const wait_words& words) { me().next_words = words; }
  void note_look(const ticket& goal);

  /// A point at which other things may happen before the calling client goes on. False if it was
  /// let go.
  bool pause();

  /// A look at something that has not happened yet: lets at least one thing happen, if anything
  /// can. After 100 looks in a row with nothing in between time passes; 10,000 are a hang. False if
  /// it was let go.
  bool poll_pause();

  /// `poll_pause` for a look of any thread at something that belongs to no runtime: nothing where
  /// the thread is no client.
  static void look(const char* call, const ticket& goal);

  /// What kernels and callbacks look for, on the threads of clients that wait.
  struct look_of_task {
    std::uint64_t stream; ///< whose task it is
    const timeline* line;
  };
  [[nodiscard]] std::vector<look_of_task> looks_of_tasks() const;

  /// Waits until `ready` or until `deadline`; true if ready.
  bool wait(const poll& ready, time_ns deadline);

  /// Whether the calling thread is a client of this simulation.
  [[nodiscard]] bool is_client() const noexcept;

  // -- from the coordinator -----------------------------------------------------

  void enqueue(caf::resumable* job, sim_coordinator& owner);
  void run_rest(sim_coordinator& owner);
  timer_queue::timer_id at_time(time_ns due, std::function<void()> action,
                                const sim_coordinator& owner);
  bool cancel(timer_queue::timer_id id);
  [[nodiscard]] std::size_t pending_timers() const;

  /// How much of the runtime that `owner` runs may still happen.
  [[nodiscard]] std::size_t left_of(const scheduler& owner) const;

  /// Forgets what `owner` still waits for; its actors end with it.
  void forget(const sim_coordinator& owner);

  [[nodiscard]] time_ns cost_of(const stream_record& stream, const command& c,
                                std::size_t chunk_bytes) const;
  void work_until(time_ns due, const actor_base& engine, std::function<void()> ended,
                  const sim_coordinator& owner);

  // -- wire -------------------------------------------------------------------

  void pass(wired_actor& target, caf::mailbox_element_ptr element,
            caf::execution_unit* unit) override;

  /// Puts a runtime on the list, until `strike_off` with the number returned: a hang report asks
  /// it to `describe` what waits for what, in lines that begin with a line break. One that is still
  /// on the list when all clients have ended is ended by `shut_down`.
  std::size_t enlist(std::function<std::string()> describe, std::function<void()> shut_down);
  void strike_off(std::size_t number);

  /// Has `look` of runtime `number` called every `interval`, and before a hang is declared: it
  /// mends what got lost and says whether there was anything.
  void look_every(std::size_t number, time_ns interval, std::function<bool()> look);

private:
  enum class source : unsigned char { job, client, timer, work };

  static constexpr std::uint32_t no_channel = UINT32_MAX;

  // The receiving end of messages, in the order in which they came.
  struct mailbox {
    std::uint32_t channel = no_channel;
    std::uint64_t handled = 0;
    std::deque<std::uint32_t> kinds;
    std::deque<std::uint64_t> sent_at; // the steps; while a trace is kept
    std::string last_kind;             // of the message before; while coverage is measured
    std::uint32_t work_channel = no_channel; // of an engine: what it works on
    std::uint64_t works = 0;
  };
  struct ready_job {
    caf::resumable* job;
    sim_coordinator* owner;
    mailbox* box; // null for CAF's own helpers
    std::uint64_t arrived;
  };
  struct pending {
    source from;
    std::uint32_t channel;
    std::uint64_t ordinal;
    std::uint64_t arrived;
    std::function<void()> action;
    const sim_coordinator* owner;
  };
  // One within the other, where a client runs a task that looks at something meanwhile.
  struct wait_frame {
    const char* call;
    wait_words words;
    bool looks;                                // again and again, in place of a wait
    const timeline* line;                      // what a look is for, if that is known
    const user_scope::description* inside;     // the task; null: the client itself
  };
  struct client {
    std::string name;
    std::uint32_t channel = 0;
    std::uint64_t turns = 0;
    std::uint64_t arrived = 0;
    std::uint64_t ready_since = 0; // the step that ended its wait; while a trace is kept
    const poll* ready = nullptr; // null: ready at once
    time_ns deadline = never_ns;
    bool polls = false;
    const char* call = nullptr;       // of the facade, the last one
    std::vector<wait_frame> waits;    // those that it is in
    wait_words next_words;            // of the one that it will begin
    const timeline* next_line = nullptr;
    std::size_t joins = SIZE_MAX;     // the client that it waits for
    bool done = false;
    bool joined = false;
    bool doomed = false;     // its wait was found to be endless
    bool let_go = false;     // so ended its last wait
    std::size_t let_gos = 0; // how often
    std::uint32_t tenant = 0;
    std::function<void()> body;
    std::exception_ptr failure;
    player_thread thread;
  };
  struct offer {
    source from;
    std::size_t index;       // of a job or client
    timer_queue::timer_id id; // of a timer or work
  };
  using due_key = std::pair<time_ns, timer_queue::timer_id>;

  client& me();
  bool wait_once(client& self, const poll& ready, time_ns deadline);
  bool await_end_of(client& self, std::size_t number);
  [[nodiscard]] std::string name_of_its_own(const std::string& asked) const;
  void lose_patience(client& self);
  [[noreturn]] static void give_up(const std::string& report) noexcept;
  [[nodiscard]] std::string describe_hang(bool out_of_steps) const;
  [[nodiscard]] std::string describe_client(const client& who) const;
  [[nodiscard]] std::string describe_wait(const client& who, const wait_frame& its) const;
  [[nodiscard]] std::string describe_joins() const;
  void serve(client& who);
  void let_things_happen(client& self);
  bool end_a_poll(std::uint64_t in_vain_max);
  void offer_all();
  void offer_one(const offer& what, const choice& as);
  bool advance();
  void happen(const offer& what);
  void doom_all();
  [[nodiscard]] bool anybody_left() const;
  void run_helpers();
  template <class Which>
  void run_all(Which which);
  void fire(timer_queue::timer_id id);
  void run_one(std::size_t index);
  [[nodiscard]] std::uint32_t kind_of(const offer& what);
  void note(const offer& what, const choice& as);
  void cover(const actor_base& who, const std::string& kind);
  [[nodiscard]] std::uint64_t cause_of(const offer& what, const choice& as);
  [[nodiscard]] bool is_ready(const client& who) const;
  [[nodiscard]] std::size_t number_of(const caf::actor_system& system);
  mailbox& mailbox_of(const actor_base& who);
  timer_queue::timer_id add(time_ns due, pending what);

  virtual_clock time_;
  channel_table channels_;
  channel_table kinds_;
  const std::unique_ptr<chooser> chooser_;
  const time_mode mode_;
  const cost_model costs_;
  lateness_recorder lateness_;
  order_hash order_;
  std::vector<std::string> trace_;
  std::vector<cause_link> causes_; // of the lines of the trace
  std::uint64_t end_step_ = 0;
  bool keeps_trace_ = false;
  bool measures_ = false;
  run_coverage covered_;
  bool on_record_ = true;
  run_record record_;
  std::vector<std::unique_ptr<witness>> witnesses_;
  std::optional<std::string> hang_;
  std::uint64_t hang_step_ = 0;
  bool over_ = false;

  std::uint64_t steps_ = 0;
  std::uint64_t steps_max_ = UINT64_MAX;
  static constexpr std::uint64_t polls_without_time = 100;
  static constexpr std::uint64_t polls_in_vain_max = 10'000;
  static constexpr std::size_t patience = 100;
  static constexpr std::uint64_t steps_to_clean_up = 10'000; // after the last ones were used up
  std::uint64_t polls_in_vain_ = 0;
  std::vector<ready_job> jobs_;
  std::vector<const caf::actor_system*> systems_; // of the runtimes, in the order of their coming
  std::map<std::pair<std::size_t, std::uint64_t>, mailbox> mailboxes_; // by system and actor
  std::map<due_key, pending> pending_;
  std::map<timer_queue::timer_id, time_ns> due_;
  timer_queue::timer_id last_id_ = 0;
  const std::uint32_t goes_on_, fires_, ends_, starts_;
  const std::uint32_t timer_channel_;
  std::uint64_t timers_set_ = 0;
  struct lookout {
    time_ns interval;
    time_ns next;
    std::function<bool()> look; // null: nobody looks
    std::function<std::string()> describe;
    std::function<void()> shut_down;
  };
  bool look_out();
  std::vector<lookout> lookouts_;
  std::vector<offer> offers_;
  std::vector<choice> choices_;

  std::vector<std::unique_ptr<client>> clients_;
  std::optional<one_core> together_; // while there are several
};

} // namespace troupe
