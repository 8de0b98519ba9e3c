#include "api/src/trial.hpp"

#include <algorithm>
#include <string_view>
#include <tuple>
#include <utility>

namespace troupe::testing {
namespace {

using observations = std::vector<run_record::bytes>;

std::string text_of(const std::exception_ptr& thrown) {
  try {
    std::rethrow_exception(thrown);
  } catch (const std::exception& e) {
    return *e.what() != '\0' ? e.what() : "an exception without a text";
  } catch (...) {
    return "an exception of unknown type";
  }
}

std::string trouble_of(const simulation_report& report) {
  std::string text;
  const auto add = [&text](const std::string& more) {
    if (!text.empty()) text += '\n';
    text += more;
  };
  if (report.thrown) add(text_of(report.thrown));
  if (report.hang) add(*report.hang);
  for (const auto& each : report.violations) add(describe(each));
  return text;
}

bool flips_bits_unseen(const fault_report& faults) {
  const auto& struck = faults.activations;
  return std::any_of(struck.begin(), struck.end(), [](const fault_activation& each) {
    return each.action.kind == fault_kind::corrupt && !each.action.detected;
  });
}

// Of a test framework; without one nothing is asserted.
assertion_watch& watch() {
  static assertion_watch one;
  return one;
}

std::string watched(const std::function<void()>& run) {
  if (watch()) return watch()(run);
  run();
  return {};
}

bool alike(const run_event& a, const run_event& b) {
  const auto key = [](const run_event& each) {
    return std::tuple(each.what, each.kind, each.runtime, each.tenant, each.step, each.context,
                      each.stream, each.number, std::string_view(each.name), each.awaited_stream,
                      each.awaited_number, each.detail);
  };
  return key(a) == key(b);
}

std::string line_of(const std::vector<run_event>& events, std::size_t at) {
  if (at >= events.size()) return "nothing more";
  const auto& each = events[at];
  return each.what == happening::failed ? describe(each) + " with " + std::to_string(each.detail)
                                        : describe(each);
}

// How what was observed the n-th time under one name differs from the plainest run's.
std::string difference(const run_record::bytes& seen, const run_record::bytes& plain) {
  if (seen.size() != plain.size()) {
    return std::to_string(seen.size()) + " bytes, and " + std::to_string(plain.size()) +
           " in the plainest run";
  }
  const auto at = std::mismatch(seen.begin(), seen.end(), plain.begin());
  if (at.first == seen.end()) return {};
  return "byte " + std::to_string(at.first - seen.begin()) + " is " +
         std::to_string(std::to_integer<int>(*at.first)) + ", and " +
         std::to_string(std::to_integer<int>(*at.second)) + " in the plainest run";
}

// After a fault some may be missing: the body saw a failure and went another way.
std::string difference(const observations& seen, const observations& plain, bool struck) {
  for (std::size_t i = 0; i < std::min(seen.size(), plain.size()); ++i) {
    if (auto text = difference(seen[i], plain[i]); !text.empty()) {
      text.insert(0, ", place " + std::to_string(i + 1) + ": ");
      return text;
    }
  }
  if (struck || seen.size() == plain.size()) return {};
  return ": " + std::to_string(seen.size()) + " times, and " + std::to_string(plain.size()) +
         " in the plainest run";
}

} // namespace

trial::trial(const simulation_options& plainest, const explored_body& body,
             const verdict_function& verdict)
    : plainest_(plainest), body_(body), verdict_(verdict) {
  plainest_.choice = order::fifo;
  plainest_.faults.reset();
  plainest_.replay_script.reset();
  plainest_.keep_trace = false;
}

run_outcome trial::run(const simulation_options& options) {
  if (!plain_) plain_ = run_once(plainest_, nullptr);
  auto seen = run_once(options, verdict_);
  if (seen.trouble.empty()) seen.trouble = compare(seen.report);
  return seen;
}

run_outcome trial::replay(const simulation_options& options) {
  auto seen = run(options);
  if (!seen.trouble.empty() || seen.report.unmet.empty()) return seen;
  seen.trouble = "the schedule is of another program or of other options: nothing came that fits '";
  for (const auto& each : seen.report.unmet) {
    seen.trouble += (&each == &seen.report.unmet.front() ? "" : "; ") + each;
  }
  seen.trouble += "'";
  return seen;
}

run_outcome trial::run_once(const simulation_options& options,
                            const verdict_function& verdict) const {
  run_outcome seen;
  const auto failed = watched([&] {
    seen.report = try_simulate(options, body_);
    seen.trouble = trouble_of(seen.report);
    if (seen.trouble.empty() && verdict) seen.trouble = verdict(seen.report);
  });
  if (!failed.empty()) seen.trouble += (seen.trouble.empty() ? "" : "\n") + failed;
  return seen;
}

std::string trial::compare(const simulation_report& seen) const {
  if (flips_bits_unseen(seen.faults) ||
      std::any_of(seen.further_faults.begin(), seen.further_faults.end(),
                  [](const fault_report& each) { return flips_bits_unseen(each); })) {
    return {};
  }
  if (seen.record.observed.empty() && plain_->report.record.observed.empty()) return {};
  if (!plain_->trouble.empty()) return "the plainest run fails: " + plain_->trouble;
  static const observations none;
  const auto of = [](const run_record& record, const std::string& name) -> const observations& {
    const auto found = record.observed.find(name);
    return found == record.observed.end() ? none : found->second;
  };
  auto names = seen.record.observed;
  names.insert(plain_->report.record.observed.begin(), plain_->report.record.observed.end());
  for (const auto& [name, unused] : names) {
    const auto text =
        difference(of(seen.record, name), of(plain_->report.record, name), seen.record.faults != 0);
    if (!text.empty()) return "observed '" + name + "'" + text;
  }
  return {};
}

std::string difference(const run_outcome& one, const run_outcome& other) {
  if (one.trouble != other.trouble) {
    return "one passed, and one failed: " + one.trouble + other.trouble;
  }
  const auto& a = one.report.record;
  const auto& b = other.report.record;
  if (one.report.order_hash != other.report.order_hash) return "they went in different orders";
  if (a.observed != b.observed) return "they observed different things";
  const auto at = std::mismatch(a.events.begin(), a.events.end(), b.events.begin(), b.events.end(),
                                &alike);
  if (at.first == a.events.end() && at.second == b.events.end()) return {};
  const auto place = static_cast<std::size_t>(at.first - a.events.begin());
  return "in one " + line_of(a.events, place) + ", in the other " + line_of(b.events, place);
}

void watch_assertions(assertion_watch by) { watch() = std::move(by); }

} // namespace troupe::testing
