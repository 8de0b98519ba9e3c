#include "core/faults/fault_plan.hpp"

#include <utility>

#include <nlohmann/json.hpp>

#include "core/faults/fault_channel.hpp"
#include "core/faults/fault_fields.hpp"
#include "core/json_fields.hpp"
#include "core/text_file.hpp"

namespace troupe {
namespace {

using json = nlohmann::json;

status refuse(const std::string& what) { return make_status(code::invalid_parameter, what); }

status too_many_entries(std::size_t count) {
  return refuse("entries: " + std::to_string(count) + " entries are not from 0 to " +
                std::to_string(fault_plan::entries_max));
}

// Number and, if it has one, name: a plan of a hundred entries must not be counted through.
std::string label(std::size_t index, const std::string& name) {
  const std::string number = "entry " + std::to_string(index + 1);
  return name.empty() ? number : number + " " + show_json(json(name));
}

// Who hands over can be overtaken by others; within one channel things come in the order in which
// they were sent, on which everything above relies.
status check_order(const fault_entry& entry) {
  const auto& [kind, point] = std::pair(entry.action.kind, entry.pick.point);
  if (kind != fault_kind::reorder) return {};
  const std::string at = "pick.point \"" + std::string(to_string(point)) + "\"";
  if (!rule_of(kind).makes_sense_at(point)) {
    return refuse("action.kind: \"reorder\" at " + at + " would break an order that is promised; "
                  "there is none between senders at \"message\", nor between streams at "
                  "\"handoff\"");
  }
  if (entry.action.adversarial && point != fault_point::message) {
    return refuse("action.adversarial: true has no meaning at " + at +
                  ", where no order is promised that it could break");
  }
  return {};
}

status check_pause(const fault_action& action) {
  if (action.kind != fault_kind::pause_actor || (action.ms > 0) != (action.until_ms > 0)) return {};
  return refuse(std::string("action: pause_actor needs one of ms and until_ms, and has ") +
                (action.ms > 0 ? "both" : "neither"));
}

status check_written(const fault_entry& entry) {
  constexpr std::string_view silent = "callback"; // the engine whose tasks write no bytes of ours
  const auto channel = parse_fault_channel(entry.pick.channel);
  const bool none = entry.pick.engine == silent || (channel && channel->engine == silent);
  if (entry.action.kind != fault_kind::corrupt || !none) return {};
  return refuse("action.kind: \"corrupt\" has nothing to corrupt on the engine \"callback\", whose "
                "tasks write no memory of a device");
}

// What no single field shows to be wrong: the action and the point, the pick and the point, the
// window.
status check_together(const fault_entry& entry) {
  const auto& [name, pick, action] = entry;
  const auto& rule = rule_of(action.kind);
  if (auto taken = check_taken(action); !taken.ok()) return taken;
  if (!rule.needs.empty()) {
    if (auto needed = check_parameter(action, rule.needs); !needed.ok()) return needed;
  }
  if (auto paused = check_pause(action); !paused.ok()) return paused;
  if (auto ordered = check_order(entry); !ordered.ok()) return ordered;
  if (!rule.makes_sense_at(pick.point)) {
    return refuse("action.kind: \"" + std::string(rule.name) +
                  "\" makes no sense at pick.point \"" + std::string(to_string(pick.point)) +
                  "\"; there, do one of " + actions_at(pick.point));
  }
  if (auto carried = check_carried(pick); !carried.ok()) return carried;
  if (auto reached = check_reach(pick); !reached.ok()) return reached;
  if (auto written = check_written(entry); !written.ok()) return written;
  if (pick.until_ms > 0 && pick.until_ms <= pick.from_ms) {
    return refuse("pick.until_ms: " + show_number(pick.until_ms) +
                  " is not above pick.from_ms, which is " + show_number(pick.from_ms));
  }
  return {};
}

status check_entry(const fault_entry& entry) {
  if (auto checked = check_part(entry); !checked.ok()) return checked;
  if (auto checked = check_part(entry.pick); !checked.ok()) return checked;
  if (auto checked = check_part(entry.action); !checked.ok()) return checked;
  return check_together(entry);
}

// The name is set as early as possible, so that a failure in what follows can be labelled with it.
status read_entry(const json& object, fault_entry& entry) {
  if (auto read = read_part(object, entry); !read.ok()) return read;
  const auto& pick = object["pick"];
  const auto& action = object["action"];
  if (auto read = read_part(pick, entry.pick); !read.ok())
    return pick.is_object() ? read : within("pick", read);
  if (auto read = read_part(action, entry.action); !read.ok())
    return action.is_object() ? read : within("action", read);
  if (auto read = check_mentioned(action, entry.action.kind); !read.ok()) return read;
  return check_together(entry);
}

status read_entries(const json& list, std::vector<fault_entry>& entries) {
  if (!list.is_array())
    return refuse("entries: " + show_json(list) + " is not an array of 0 to 1000 entries");
  if (list.size() > fault_plan::entries_max) return too_many_entries(list.size());
  for (std::size_t i = 0; i < list.size(); ++i) {
    fault_entry entry;
    if (auto read = read_entry(list[i], entry); !read.ok())
      return within(label(i, entry.name), read);
    entries.push_back(std::move(entry));
  }
  return {};
}

result<fault_plan> read_plan(std::string_view text, std::string_view origin) {
  const auto parsed = parse_json(text, origin);
  if (!parsed) return parsed.error();
  const auto& object = parsed.value();
  fault_plan plan;
  if (auto read = read_part(object, plan); !read.ok()) return within(origin, read);
  if (const auto found = object.find("entries"); found != object.end()) {
    if (auto read = read_entries(*found, plan.entries); !read.ok()) return within(origin, read);
  }
  return plan;
}

} // namespace

result<fault_plan> fault_plan::from_json(std::string_view text) {
  return read_plan(text, "fault plan");
}

result<fault_plan> fault_plan::from_file(const std::string& path) {
  const auto text = read_text_file(path);
  if (!text) return text.error();
  return read_plan(text.value(), path);
}

std::string fault_plan::to_json() const {
  auto object = write_part(*this);
  auto list = nlohmann::ordered_json::array();
  for (const auto& entry : entries) {
    auto each = write_part(entry);
    each["pick"] = write_part(entry.pick);
    each["action"] = write_part(entry.action);
    list.push_back(std::move(each));
  }
  object["entries"] = std::move(list);
  return object.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

status fault_plan::validate() const {
  const std::string origin = "fault plan";
  if (auto checked = check_part(*this); !checked.ok()) return within(origin, checked);
  if (entries.size() > entries_max) return within(origin, too_many_entries(entries.size()));
  for (std::size_t i = 0; i < entries.size(); ++i) {
    if (auto checked = check_entry(entries[i]); !checked.ok())
      return within(origin, within(label(i, entries[i].name), checked));
  }
  return {};
}

std::string fault_plan::entry_name(std::size_t index) const {
  Expects(index < entries.size());
  const auto& given = entries[index].name;
  return given.empty() ? "entry " + std::to_string(index + 1) : given;
}

} // namespace troupe
