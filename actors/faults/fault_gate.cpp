#include "actors/faults/fault_gate.hpp"

#include <algorithm>
#include <utility>

#include "actors/context_record.hpp"
#include "actors/device_record.hpp"
#include "actors/graphs/graph_replay.hpp"
#include "actors/machine.hpp"
#include "actors/scheduling/actor_base.hpp"
#include "actors/scheduling/wire.hpp"
#include "actors/simulation/witness.hpp"
#include "actors/stream_record.hpp"

namespace troupe {
namespace {

std::string stream_name(const stream_record& stream) {
  return "stream " + std::to_string(stream.id());
}

bool takes_time(fault_kind kind) {
  switch (kind) {
    case fault_kind::delay:
    case fault_kind::hold_until:
    case fault_kind::drop:
    case fault_kind::reorder:
    case fault_kind::never_complete:
    case fault_kind::slow:
    case fault_kind::restart_actor: return true;
    default: return false;
  }
}

std::string engine_name(const stream_record& stream, engine_kind kind) {
  return std::string(to_string(kind)) + " of device " +
         std::to_string(stream.context().device().index());
}

} // namespace

fault_gate::fault_gate(machine& home, fault_plan plan)
    : home_(home), injector_(std::make_shared<fault_injector>(std::move(plan))) {}

// -- asking -------------------------------------------------------------------

time_ns fault_gate::age() const { return home_.time().now() - home_.began_at(); }

std::uint64_t fault_gate::next_on(const std::string& channel) {
  const std::lock_guard lock(guard_);
  return passed_[channel].next();
}

bool fault_gate::spares(const fault_site& site) const {
  if (stopped_.load(std::memory_order_relaxed)) return true;
  const auto* seen = home_.seen();
  return only_tenant_ != 0 && seen != nullptr &&
         seen->tenant_of(site.context.value_or(0)) != only_tenant_;
}

fault_gate::strike fault_gate::decide(fault_site site, const std::string& channel,
                                      std::uint64_t ordinal) {
  if (spares(site)) return {};
  site.channel = channel;
  site.ordinal = ordinal;
  site.now_ns = age();
  auto by = injector_->decide(site);
  if (auto* seen = home_.seen(); seen != nullptr && by) seen->struck();
  return by;
}

// What happens on a device may be the last that does: that is the same whatever was asked about.
fault_gate::strike fault_gate::decide_on(device_record& device, const fault_site& site,
                                         const std::string& channel, std::uint64_t ordinal) {
  auto by = decide(site, channel, ordinal);
  if (by && by->action.kind == fault_kind::lose_device) lose(device, *by);
  return by;
}

// Who waits for the stream in vain learns what holds it up.
fault_gate::strike fault_gate::decide_on(const stream_record& stream, const fault_site& site,
                                         const std::string& channel, std::uint64_t ordinal) {
  auto by = decide_on(stream.context().device(), site, channel, ordinal);
  if (by && takes_time(by->action.kind)) stream.line()->note_struck(by->entry_name);
  return by;
}

fault_site fault_gate::site_of(const stream_record& stream, fault_point point) const {
  fault_site site;
  site.point = point;
  site.device = stream.context().device().index();
  site.context = stream.context().id();
  site.stream = stream.id();
  return site;
}

fault_gate::strike fault_gate::at_submit(const stream_record& stream, const command& c,
                                         std::uint64_t number) {
  if (!injector_->watches(fault_point::submit)) return {};
  auto site = site_of(stream, fault_point::submit);
  site.operation = c.name;
  return decide_on(stream.context().device(), site, "client>" + stream_name(stream), number);
}

fault_gate::strike fault_gate::at_execute(const stream_record& stream, const command& c,
                                          engine_kind by) {
  if (!injector_->watches(fault_point::execute)) return {};
  auto site = site_of(stream, fault_point::execute);
  site.operation = c.name;
  site.engine = to_string(by);
  return decide_on(stream, site,
                   stream_name(stream) + ">" + engine_name(stream, by), c.number);
}

fault_gate::strike fault_gate::at_node(const stream_record& stream, const graph_replay& replay,
                                       const command& step, engine_kind by) {
  if (!injector_->watches(fault_point::execute)) return {};
  auto site = site_of(stream, fault_point::execute);
  site.operation = step.name;
  site.engine = to_string(by);
  const auto channel = "graph '" + replay.plan().name() + "' #" +
                       std::to_string(replay.ordinal()) + " of " + stream_name(stream) + ">" +
                       engine_name(stream, by);
  return decide_on(stream, site, channel, replay.place());
}

fault_gate::strike fault_gate::at_complete(const stream_record& stream, const command& c) {
  if (!injector_->watches(fault_point::complete)) return {};
  auto site = site_of(stream, fault_point::complete);
  site.operation = c.name;
  return decide_on(stream, site, "engine>" + stream_name(stream), c.number);
}

fault_gate::strike fault_gate::at_handoff(const stream_record& stream, engine_kind to) {
  if (!injector_->watches(fault_point::handoff)) return {};
  auto site = site_of(stream, fault_point::handoff);
  site.engine = to_string(to);
  const auto channel = stream_name(stream) + ">port " + engine_name(stream, to);
  auto& passed = stream.passed->handoffs.at(static_cast<std::size_t>(to));
  return decide_on(stream, site, channel, passed.next());
}

fault_gate::strike fault_gate::at_notice(std::uint64_t line, std::uint64_t number) {
  if (!injector_->watches(fault_point::notice)) return {};
  fault_site site;
  site.point = fault_point::notice;
  site.stream = line;
  return decide(site, "stream " + std::to_string(line) + ">who waits", number);
}

fault_gate::strike fault_gate::at_message(wired_actor& target, const std::string& kind) {
  if (!injector_->watches(fault_point::message)) return {};
  fault_site site;
  site.point = fault_point::message;
  site.message = kind.c_str();
  return decide(site, "to " + name_of(target.self()), target.messages.next());
}

fault_gate::strike fault_gate::at_allocate(const std::string& memory, std::uint64_t owner,
                                           std::uint64_t bytes) {
  if (!injector_->watches(fault_point::allocate)) return {};
  fault_site site;
  site.point = fault_point::allocate;
  site.context = owner;
  site.bytes = bytes;
  const auto channel = "from " + memory;
  return decide(site, channel, next_on(channel));
}

fault_gate::strike fault_gate::at_reply(const std::string& from, channel_count& answers,
                                        const char* call) {
  if (!injector_->watches(fault_point::reply)) return {};
  fault_site site;
  site.point = fault_point::reply;
  site.operation = call;
  return decide(site, "from " + from, answers.next());
}

attacked_actor& fault_gate::known_of(wired_actor& who) {
  if (!who.known) who.known = std::make_shared<attacked_actor>();
  return *who.known;
}

std::shared_ptr<attacked_actor> fault_gate::known_of(actor_base& who) {
  auto& wired = dynamic_cast<wired_actor&>(who);
  const std::lock_guard lock(guard_);
  (void)known_of(wired);
  return wired.known;
}

fault_gate::strike fault_gate::at_timer(const stream_record& stream) {
  if (!injector_->watches(fault_point::timer)) return {};
  return decide(site_of(stream, fault_point::timer), "timer of " + stream_name(stream),
                stream.passed->timers.next());
}

fault_gate::strike fault_gate::at_heartbeat(device_record& device) {
  if (!injector_->watches(fault_point::heartbeat)) return {};
  fault_site site;
  site.point = fault_point::heartbeat;
  site.device = device.index();
  const auto channel = "heartbeat of device " + std::to_string(device.index());
  return decide_on(device, site, channel, next_on(channel));
}

// -- carrying out -------------------------------------------------------------

std::string fault_gate::name_of(const actor_base& who) {
  return std::string(who.name()) + " " + std::to_string(who.id());
}

// Whoever asked may hold locks of a stream and its grant: the streams' work is dropped by a thread
// of control, but from here on the device takes nothing more.
void fault_gate::lose(device_record& device, const fault_activation& by) const {
  const auto index = std::to_string(device.index());
  device.lose(failure(by, "device " + index + " was lost, and what it held with it"));
  later(now(), [&device] { device.drop_work(); });
  const auto back = end_of(by.action);
  if (back != never_ns) later(back, [&device] { device.come_back(); });
}

void fault_gate::note_kill(wired_actor& who, const fault_activation& by) {
  const std::lock_guard lock(guard_);
  if (!who.killed.exchange(true)) known_of(who).killed_by = by.entry_name;
}

std::string fault_gate::entry_that_killed(const actor_base& who) {
  const std::lock_guard lock(guard_);
  const auto& known = dynamic_cast<const wired_actor&>(who).known;
  return known ? known->killed_by : std::string();
}

status fault_gate::why_killed(const actor_base& who) {
  error_record record;
  record.what = code::internal_error;
  record.message = name_of(who) + " has died";
  record.plan_entry = entry_that_killed(who);
  return status(std::move(record));
}

void fault_gate::note_held(wired_actor& who, const fault_activation& by) {
  const std::lock_guard lock(guard_);
  auto& known = known_of(who);
  ++known.held;
  known.held_by = by.entry_name;
}

void fault_gate::note_let_go(wired_actor& who) {
  const std::lock_guard lock(guard_);
  --known_of(who).held;
}

std::string fault_gate::entry_holding(const attacked_actor& who) {
  const std::lock_guard lock(guard_);
  return who.held != 0 ? who.held_by : std::string();
}

std::size_t fault_gate::channels() const {
  const std::lock_guard lock(guard_);
  return passed_.size();
}

time_ns fault_gate::now() const { return home_.time().now(); }

time_ns fault_gate::end_of(const fault_action& action) const {
  if (action.ms > 0) return after(now(), to_ns(action.ms));
  if (action.until_ms > 0) return after(home_.began_at(), to_ns(action.until_ms));
  return never_ns;
}

time_ns fault_gate::timer_due(const stream_record& stream, time_ns due) {
  const auto by = at_timer(stream);
  if (!by) return due;
  if (by->action.kind == fault_kind::delay) return after(due, to_ns(by->action.ms));
  return std::max(due, end_of(by->action)); // of a lost one there is no end
}

std::optional<time_ns> fault_gate::late_until(const fault_activation& by) const {
  const auto kind = by.action.kind;
  if (kind != fault_kind::delay && kind != fault_kind::hold_until) return {};
  return end_of(by.action);
}

void fault_gate::later(time_ns due, std::function<void()> action) const {
  home_.scheduler().at_time(due, std::move(action));
}

status fault_gate::failure(const fault_activation& by, std::string what) {
  error_record record;
  const auto usual = by.action.outcome();
  record.what = usual != code::success ? usual : code::internal_error;
  record.message = std::move(what);
  record.plan_entry = by.entry_name;
  return status(std::move(record));
}

} // namespace troupe
