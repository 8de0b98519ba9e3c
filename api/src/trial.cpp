#include "api/src/trial.hpp"

#include <algorithm>

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

bool flips_bits_unseen(const fault_activation& each) {
  return each.action.kind == fault_kind::corrupt && !each.action.detected;
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
  run_outcome seen;
  seen.report = try_simulate(options, body_);
  seen.trouble = trouble_of(seen.report);
  if (seen.trouble.empty() && verdict_) seen.trouble = verdict_(seen.report);
  if (seen.trouble.empty()) seen.trouble = compare(seen.report);
  return seen;
}

std::string trial::compare(const simulation_report& seen) {
  const auto& struck = seen.faults.activations;
  if (std::any_of(struck.begin(), struck.end(), &flips_bits_unseen)) return {};
  if (!plain_) {
    if (seen.record.observed.empty()) return {};
    plain_.emplace();
    plain_->report = try_simulate(plainest_, body_);
    plain_->trouble = trouble_of(plain_->report);
  }
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
        difference(of(seen.record, name), of(plain_->report.record, name), seen.faults.fired != 0);
    if (!text.empty()) return "observed '" + name + "'" + text;
  }
  return {};
}

} // namespace troupe::testing
