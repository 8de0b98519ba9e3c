#include "core/exploration/oracle.hpp"

#include <algorithm>
#include <exception>

#include "core/exploration/stream_rules.hpp"

namespace troupe {
namespace {

std::string answers(const run_record& record) {
  if (record.hung) return {};
  for (std::size_t i = 0; i < record.answers.size(); ++i) {
    if (record.answers[i] == 1) continue;
    return "request " + std::to_string(i + 1) + " of the run's clients got " +
           std::to_string(record.answers[i]) + " answers";
  }
  return {};
}

std::string copies(const run_record& record) {
  const auto& events = record.events;
  const auto wrong = std::find_if(events.begin(), events.end(), [](const run_event& each) {
    return each.what == happening::miscopied;
  });
  if (wrong == events.end()) return {};
  return describe(*wrong) + ": byte " + std::to_string(wrong->detail) + " is not its source's";
}

std::string reuse(const run_record& record) {
  const auto& events = record.events;
  const auto robbed = std::find_if(events.begin(), events.end(), [](const run_event& each) {
    return each.what == happening::robbed;
  });
  if (robbed == events.end()) return {};
  return describe(*robbed) + ": a block of " + std::to_string(robbed->detail) +
         " bytes that it touches was handed out to others before it had ended";
}

std::string accounts(const run_record& record) {
  if (record.hung) return {};
  std::string text;
  for (const auto& each : record.accounts) {
    if (each.at_start == each.at_end) continue;
    text += text.empty() ? "" : "; ";
    text += each.what + ": " + std::to_string(each.at_start) + " at the start, " +
            std::to_string(each.at_end) + " at the end";
  }
  return text;
}

std::string survivors(const run_record& record) {
  if (record.hung) return {};
  std::string text;
  for (const auto& each : record.survivors) text += (text.empty() ? "" : "; ") + each;
  return text.empty() ? text : "left at the end: " + text;
}

// One that throws has found out nothing, which must not look like a rule that was kept.
std::string checked(const oracle& rule, const run_record& record) {
  try {
    return rule.check(record);
  } catch (const std::exception& e) {
    return std::string("its check threw: ") + e.what();
  } catch (...) {
    return "its check threw an exception of unknown type";
  }
}

} // namespace

std::string describe(const violation& broken) {
  return "oracle '" + broken.oracle + "': " + broken.what;
}

const std::vector<oracle>& default_oracles() {
  static const std::vector<oracle> all{
      {"answers", &answers},
      {"fifo", &check_order},
      {"tickets", &check_tickets},
      {"truth", &check_truth},
      {"copies", &copies},
      {"reuse", &reuse},
      {"accounts", &accounts},
      {"survivors", &survivors},
      {"liveness", [](const run_record& record) { return record.liveness; }},
  };
  return all;
}

result<std::vector<oracle>> select_oracles(const std::vector<std::string>& off,
                                           const std::vector<oracle>& more) {
  const auto& defaults = default_oracles();
  const auto named = [](const std::string& name) {
    return [&name](const oracle& each) { return each.name == name; };
  };
  for (const auto& name : off) {
    if (std::any_of(defaults.begin(), defaults.end(), named(name))) continue;
    std::string known;
    for (const auto& each : defaults) known += (known.empty() ? "" : ", ") + each.name;
    return make_status(code::invalid_parameter,
                       "oracles_off names '" + name + "'; the default oracles are " + known);
  }
  std::vector<oracle> chosen;
  for (const auto& each : defaults) {
    if (std::find(off.begin(), off.end(), each.name) == off.end()) chosen.push_back(each);
  }
  for (const auto& each : more) {
    if (each.name.empty() || !each.check) {
      const std::string lacking = each.name.empty() ? "no name" : "no check";
      return make_status(code::invalid_parameter,
                         "oracle '" + each.name + "' among `oracles` has " + lacking);
    }
    if (std::any_of(chosen.begin(), chosen.end(), named(each.name))) {
      return make_status(code::invalid_parameter,
                         "oracle '" + each.name + "' among `oracles` has the name of another");
    }
    chosen.push_back(each);
  }
  return chosen;
}

std::vector<violation> judge(const run_record& record, const std::vector<oracle>& oracles) {
  std::vector<violation> broken;
  for (const auto& each : oracles) {
    auto what = checked(each, record);
    if (!what.empty()) broken.push_back({each.name, std::move(what)});
  }
  return broken;
}

} // namespace troupe
