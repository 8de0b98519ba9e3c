#include "troupe/operators/executable_operators.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "api/src/operators/lowering.hpp"
#include "troupe/graph.hpp"

namespace troupe {
namespace {

using operators::lowered_graph;
using operators::lowered_step;

status bad(std::string message) {
  return make_status(code::invalid_parameter, std::move(message));
}

status empty_handle() {
  return make_status(code::invalid_handle, "the executable operators' handle is empty");
}

std::string line_of(const fusion_note& note) {
  auto line = note.pass + ": " + note.first;
  if (!note.second.empty()) line += " and " + note.second;
  if (!note.why_not.empty()) return line + ": not, " + note.why_not + '\n';
  return line + ": one, " + std::to_string(note.bytes) + " bytes saved\n";
}

} // namespace

std::string to_text(const operator_graph_report& report) {
  std::string text;
  for (const auto& note : report.passes.notes) text += line_of(note);
  return text + std::to_string(report.operators) + " operators in " +
         std::to_string(report.launches) + " launches, " +
         std::to_string(report.passes.bytes) + " bytes between them saved; " +
         std::to_string(report.private_bytes) + " bytes of private memory for " +
         std::to_string(report.unshared_bytes) + '\n';
}

struct executable_operators::state {
  std::uint64_t graph_id;
  std::string name;
  operator_graph_report report;
  lowered_graph lowered;
  graph content;
  executable_graph run;
};

result<executable_operators> executable_operators::instantiate(const context& home,
                                                               const operator_graph& g,
                                                               const fusion_options& options) {
  operator_graph_report report;
  report.operators = g.program().steps.size();
  auto fused = fuse(g.program(), options);
  report.passes = std::move(fused.report);
  auto lowered = operators::lower(home, g, std::move(fused.program), report);
  if (!lowered) return lowered.error();
  auto content = operators::as_graph(g.name(), lowered.value());
  if (!content) return content.error();
  auto run = executable_graph::instantiate(home, content.value());
  if (!run) return run.error();
  executable_operators made;
  made.state_ = std::make_shared<state>(
      state{g.id(), g.name(), std::move(report), std::move(lowered).value(),
            std::move(content).value(), std::move(run).value()});
  return made;
}

status executable_operators::launch(const stream& target, call_site site) const {
  if (!state_) return empty_handle();
  auto outcome = state_->run.launch(target, site);
  if (!outcome.ok()) return outcome;
  for (const auto& each : state_->lowered.bound) each.bytes().used_on(target.state().get());
  return outcome;
}

status executable_operators::update(const operand& which, const tensor& other) {
  if (!state_) return empty_handle();
  auto& all = state_->lowered;
  const auto name = "operators '" + state_->name + "': t" + std::to_string(which.index);
  if (which.graph != state_->graph_id || which.index >= all.bound.size()) {
    return bad(name + " is of " + (which.graph == 0 ? "no graph" : "another graph"));
  }
  auto& place = all.bound[which.index];
  if (place.empty() || all.program.tensors[which.index].constant) {
    return bad(name + " is neither an input nor an output");
  }
  const auto& wanted = all.program.tensors[which.index].layout;
  const auto& given = other.layout();
  if (other.empty() || given.type != wanted.type || given.shape != wanted.shape ||
      given.strides != wanted.strides) {
    return bad(name + " is " + to_text(wanted) + "; its new tensor is " +
               (other.empty() ? "empty" : to_text(given)));
  }
  auto before = std::exchange(place, other);
  auto outcome = operators::check_overlaps(state_->name, all);
  for (const auto& each : all.steps) {
    if (!outcome.ok()) break;
    if (!each.names(which.index)) continue;
    outcome = std::apply(
        [&](const auto&... arguments) { return state_->run.update(each.node, arguments...); },
        operators::arguments_of(each, all));
  }
  if (!outcome.ok()) place = std::move(before);
  return outcome;
}

const operator_graph_report& executable_operators::report() const {
  static const operator_graph_report none;
  return state_ ? state_->report : none;
}

std::uint64_t executable_operators::replays() const { return state_ ? state_->run.replays() : 0; }

std::string executable_operators::to_dot() const { return state_ ? state_->content.to_dot() : ""; }

std::string executable_operators::to_json() const {
  return state_ ? state_->content.to_json() : "";
}

status executable_operators::destroy() const {
  return state_ ? state_->run.destroy() : empty_handle();
}

} // namespace troupe
