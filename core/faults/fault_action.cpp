#include "core/faults/fault_action.hpp"

#include <algorithm>
#include <cmath>

#include "core/json_fields.hpp"

namespace troupe {
namespace {

using at = fault_point;

// What is handed from one party to another can be late, lost or doubled. A submission and an
// allocation happen in the caller's own thread: they can fail, but there is nobody who would
// bring them later. A submission can be lost all the same: it leaves a gap.
constexpr auto on_the_way =
    points_of(at::message, at::handoff, at::complete, at::notice, at::reply);
constexpr auto late =
    static_cast<fault_point_set>(on_the_way | points_of(at::execute, at::timer));
constexpr auto lost = static_cast<fault_point_set>(on_the_way | points_of(at::submit, at::timer));

// Where something of a device is at hand, or it is looked for.
constexpr auto at_a_device =
    points_of(at::submit, at::handoff, at::execute, at::complete, at::heartbeat);

constexpr std::array<fault_kind_rule, fault_kind_count> rules{{
    {"delay", "ms", {}, late, code::success, "happens `ms` later"},
    {"hold_until", "until_ms", {}, late, code::success,
     "happens when the runtime is `until_ms` old"},
    {"drop", "", {}, lost, code::success, "never arrives: a lost doorbell or interrupt"},
    {"duplicate", "", {}, on_the_way, code::success, "arrives twice"},
    {"fail_at_submit", "", {"code"}, points_of(at::submit), code::resource_shortage,
     "refused with `code`; the stream never sees it"},
    {"fail_at_execution", "", {"code"}, points_of(at::execute), code::kernel_exception,
     "fails with `code` in place of its work"},
    {"never_complete", "", {}, points_of(at::execute), code::success, "never ends by itself"},
    {"slow", "factor", {}, points_of(at::execute), code::success, "takes `factor` times as long"},
    {"corrupt", "", {"bytes", "detected"}, points_of(at::execute), code::success,
     "a bit flips in each of `bytes` bytes that it writes; `detected`: reported as 507054"},
    {"refuse_allocation", "", {"code"}, points_of(at::allocate), code::device_out_of_memory,
     "refused with `code`, as if memory had run out"},
    {"kill_actor", "", {}, points_of(at::message, at::execute), code::success,
     "the actor that handles it dies for good, with what it is in charge of; of engines there are "
     "others, and the task fails"},
    {"reorder", "", {"adversarial"}, points_of(at::message, at::handoff), code::success,
     "the next one from another sender, or of another stream, overtakes it; `adversarial`: the "
     "next one at all, which no run without a fault can bring about"},
    {"pause_actor", "", {"ms", "until_ms"}, points_of(at::message), code::success,
     "from then on the actor handles nothing for `ms`, or until the runtime is `until_ms` old; its "
     "mailbox keeps"},
    {"restart_actor", "", {}, points_of(at::message, at::execute), code::success,
     "the actor that handles it dies and a fresh one takes its place, knowing what the records "
     "know: the message is lost, the task is begun again"},
    {"lose_device", "", {"ms", "code"}, at_a_device, code::lost_heartbeat,
     "the device is gone for `ms`, or for good: all that is in flight on it fails with `code`, as "
     "does every call until it is back and was reset"},
}};

constexpr auto names = [] {
  std::array<std::string_view, fault_kind_count> all{};
  for (std::size_t i = 0; i < rules.size(); ++i) all[i] = rules[i].name;
  return all;
}();

static_assert(names[static_cast<std::size_t>(fault_kind::delay)] == "delay" &&
              names[static_cast<std::size_t>(fault_kind::slow)] == "slow" &&
              names[static_cast<std::size_t>(fault_kind::lose_device)] == "lose_device");

fault_action of_kind(fault_kind kind) {
  fault_action action;
  action.kind = kind;
  return action;
}

fault_action with_code(fault_kind kind, code what) {
  fault_action action = of_kind(kind);
  action.code = what;
  return action;
}

} // namespace

fault_action fault_action::delay(double ms) {
  auto action = of_kind(fault_kind::delay);
  action.ms = ms;
  return action;
}

fault_action fault_action::hold_until(double until_ms) {
  auto action = of_kind(fault_kind::hold_until);
  action.until_ms = until_ms;
  return action;
}

fault_action fault_action::drop() { return of_kind(fault_kind::drop); }

fault_action fault_action::duplicate() { return of_kind(fault_kind::duplicate); }

fault_action fault_action::fail_at_submit(troupe::code what) {
  return with_code(fault_kind::fail_at_submit, what);
}

fault_action fault_action::fail_at_execution(troupe::code what) {
  return with_code(fault_kind::fail_at_execution, what);
}

fault_action fault_action::never_complete() { return of_kind(fault_kind::never_complete); }

fault_action fault_action::slow(double factor) {
  auto action = of_kind(fault_kind::slow);
  action.factor = factor;
  return action;
}

fault_action fault_action::corrupt(std::uint64_t bytes, bool detected) {
  auto action = of_kind(fault_kind::corrupt);
  action.bytes = bytes;
  action.detected = detected;
  return action;
}

fault_action fault_action::refuse_allocation(troupe::code what) {
  return with_code(fault_kind::refuse_allocation, what);
}

fault_action fault_action::kill_actor() { return of_kind(fault_kind::kill_actor); }

fault_action fault_action::reorder(bool adversarial) {
  auto action = of_kind(fault_kind::reorder);
  action.adversarial = adversarial;
  return action;
}

fault_action fault_action::pause_actor(double ms) {
  auto action = of_kind(fault_kind::pause_actor);
  action.ms = ms;
  return action;
}

fault_action fault_action::restart_actor() { return of_kind(fault_kind::restart_actor); }

fault_action fault_action::lose_device(double ms) {
  auto action = of_kind(fault_kind::lose_device);
  action.ms = ms;
  return action;
}

code fault_action::outcome() const noexcept {
  if (code != troupe::code::success) return code;
  if (kind == fault_kind::corrupt && detected) return troupe::code::hbm_multi_bit_ecc;
  const auto index = static_cast<std::size_t>(kind);
  return index < rules.size() ? rules[index].usual_code : troupe::code::success;
}

std::string describe(const fault_action& action) {
  std::string text(to_string(action.kind));
  switch (action.kind) {
    case fault_kind::delay: text += " for " + show_number(action.ms) + " ms"; break;
    case fault_kind::hold_until: text += " " + show_number(action.until_ms) + " ms"; break;
    case fault_kind::slow: text += " by a factor of " + show_number(action.factor); break;
    case fault_kind::corrupt:
      text += " " + std::to_string(action.bytes) + (action.bytes == 1 ? " byte" : " bytes");
      if (!action.detected) text += ", silent";
      break;
    case fault_kind::pause_actor:
      text += action.ms > 0 ? " for " + show_number(action.ms)
                            : " until " + show_number(action.until_ms);
      text += " ms";
      break;
    case fault_kind::reorder:
      if (action.adversarial) text += ", adversarial";
      break;
    case fault_kind::lose_device:
      text += action.ms > 0 ? " for " + show_number(action.ms) + " ms" : " for good";
      break;
    default: break; // the others take nothing but a code
  }
  if (action.outcome() != code::success)
    text += " with " + std::to_string(static_cast<int>(action.outcome()));
  return text;
}

const fault_kind_rule& rule_of(fault_kind kind) {
  const auto index = static_cast<std::size_t>(kind);
  Expects(index < rules.size());
  return rules[index];
}

gsl::span<const std::string_view> fault_kind_names() noexcept { return names; }

std::string_view to_string(fault_kind kind) noexcept {
  const auto index = static_cast<std::size_t>(kind);
  return index < names.size() ? names[index] : "unnamed_kind";
}

std::string actions_at(fault_point point) {
  std::string list;
  for (const auto& rule : rules) {
    if (!rule.makes_sense_at(point)) continue;
    if (!list.empty()) list += ", ";
    list += rule.name;
  }
  return list;
}

std::int64_t to_ns(double ms) {
  constexpr double ns_per_ms = 1e6;
  return static_cast<std::int64_t>(std::llround(ms * ns_per_ms));
}

} // namespace troupe
