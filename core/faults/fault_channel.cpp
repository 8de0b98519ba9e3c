#include "core/faults/fault_channel.hpp"

#include <algorithm>
#include <array>
#include <charconv>

#include "core/exploration/cast.hpp"
#include "core/faults/fault_plan.hpp"
#include "core/faults/fault_rows.hpp"
#include "core/json_fields.hpp"

namespace troupe {
namespace {

struct channel_form {
  fault_point point;
  std::string_view text;
};

// ROLE, ID, S, ENGINE and D stand for what differs from channel to channel.
constexpr std::array<channel_form, 11> forms{{
    {fault_point::message, "to ROLE ID"},
    {fault_point::submit, "client>stream S"},
    {fault_point::handoff, "stream S>port ENGINE of device D"},
    {fault_point::execute, "stream S>ENGINE of device D"},
    {fault_point::complete, "engine>stream S"},
    {fault_point::notice, "stream S>who waits"},
    {fault_point::allocate, "from memory of device D"},
    {fault_point::allocate, "from pinned host memory"},
    {fault_point::reply, "from ROLE ID"},
    {fault_point::timer, "timer of stream S"},
    {fault_point::heartbeat, "heartbeat of device D"},
}};

// The calls of clients that an actor answers; a house test compares them with the sources.
constexpr std::array<std::string_view, 22> calls{
    "buffer::free", "context::allocate", "context::allocate_temporary", "context::create_pool",
    "context::create_stream",
    "context::destroy", "context::free_raw", "context::memory", "current::memory",
    "device::create_context", "device::create_physical", "device::memory", "device::reset",
    "pool::allocate", "runtime::allocate_host", "runtime::device", "runtime::host_memory",
    "runtime::remove_failure_listener", "runtime::reset_device", "runtime::set_device",
    "stream::abort", "stream::destroy"};

bool is_capital(char c) { return c >= 'A' && c <= 'Z'; }

const cast_role* role_named(std::string_view name) {
  const auto all = cast();
  const auto found = std::ranges::find(all, name, &cast_role::name);
  return found == all.end() ? nullptr : &*found;
}

bool is_engine(std::string_view name) {
  const auto names = fault_engine_names();
  return std::find(names.begin(), names.end(), name) != names.end();
}

// The first of `rest` that a placeholder stands for, which is taken off.
std::string_view take_word(std::string_view& rest) {
  const auto length = std::min(rest.find_first_of(" >"), rest.size());
  const auto word = rest.substr(0, length);
  rest.remove_prefix(length);
  return word;
}

bool read_number(std::string_view word, std::optional<std::uint64_t>& number) {
  std::uint64_t value = 0;
  const auto* end = word.data() + word.size();
  const auto read = std::from_chars(word.data(), end, value);
  if (word.empty() || read.ec != std::errc{} || read.ptr != end) return false;
  number = value;
  return true;
}

bool fill(std::string_view placeholder, std::string_view word, fault_channel& made) {
  if (placeholder == "S") return read_number(word, made.stream);
  if (placeholder == "D") return read_number(word, made.device);
  if (placeholder == "ROLE") {
    made.role = word;
    return role_named(word) != nullptr;
  }
  if (placeholder == "ENGINE") {
    made.engine = word;
    return is_engine(word);
  }
  std::optional<std::uint64_t> id;
  return read_number(word, id);
}

std::optional<fault_channel> parse_as(const channel_form& form, std::string_view name) {
  fault_channel made;
  made.point = form.point;
  std::string_view pattern = form.text;
  while (!pattern.empty()) {
    if (is_capital(pattern.front())) {
      const auto placeholder = take_word(pattern);
      if (!fill(placeholder, take_word(name), made)) return {};
      continue;
    }
    if (name.empty() || name.front() != pattern.front()) return {};
    name.remove_prefix(1);
    pattern.remove_prefix(1);
  }
  if (!name.empty()) return {};
  return made;
}

std::string forms_at(std::optional<fault_point> point) {
  std::string list;
  for (const auto& each : forms) {
    if (point && each.point != *point) continue;
    list += (list.empty() ? "" : ", ") + std::string(each.text);
  }
  return list;
}

status refuse(std::string_view field, const std::string& value, const std::string& why) {
  return make_status(code::invalid_parameter,
                     "pick." + std::string(field) + ": \"" + value + "\" " + why);
}

status check_message(const fault_pick& pick, const fault_channel* channel) {
  if (pick.message.empty()) return {};
  std::string known;
  for (const auto& role : cast()) {
    if (channel != nullptr && role.name != channel->role) continue;
    for (const auto each : role.messages) {
      if (each == pick.message) return {};
      if (known.find(each) == known.npos) known += (known.empty() ? "" : ", ") + std::string(each);
    }
  }
  const std::string who = channel != nullptr ? std::string(channel->role) : "any actor";
  return refuse("message", pick.message,
                "is none that " + who + " understands; these are " + known);
}

status check_call(const fault_pick& pick) {
  if (pick.point != fault_point::reply || pick.operation.empty()) return {};
  if (std::ranges::find(calls, pick.operation) != calls.end()) return {};
  return refuse("operation", pick.operation,
                "is no call that an actor answers; these are " + fault_rows::listed(calls));
}

status contradicts(const fault_pick& pick, std::string_view field, const std::string& value) {
  return refuse("channel", pick.channel,
                "is not of pick." + std::string(field) + ", which is " + value);
}

status check_agreement(const fault_pick& pick, const fault_channel& channel) {
  if (pick.device && channel.device && pick.device != channel.device) {
    return contradicts(pick, "device", std::to_string(*pick.device));
  }
  if (pick.stream && channel.stream && pick.stream != channel.stream) {
    return contradicts(pick, "stream", std::to_string(*pick.stream));
  }
  if (pick.context.value_or(0) != 0 && pick.channel == "from pinned host memory") {
    return contradicts(pick, "context", std::to_string(*pick.context));
  }
  if (!pick.engine.empty() && pick.engine != channel.engine) {
    return contradicts(pick, "engine", pick.engine);
  }
  return {};
}

} // namespace

gsl::span<const std::string_view> fault_call_names() noexcept { return calls; }

std::optional<fault_channel> parse_fault_channel(std::string_view name) {
  for (const auto& each : forms) {
    if (auto made = parse_as(each, name)) return made;
  }
  return {};
}

std::string fault_channel_forms() { return forms_at({}); }

status check_reach(const fault_pick& pick) {
  if (auto checked = check_call(pick); !checked.ok()) return checked;
  if (pick.channel.empty()) return check_message(pick, nullptr);
  const auto channel = parse_fault_channel(pick.channel);
  if (!channel || channel->point != pick.point) {
    return refuse("channel", pick.channel,
                  "is no channel at pick.point \"" + std::string(to_string(pick.point)) +
                      "\"; there, channels are called " + forms_at(pick.point));
  }
  if (auto checked = check_agreement(pick, *channel); !checked.ok()) return checked;
  return check_message(pick, &*channel);
}

} // namespace troupe
