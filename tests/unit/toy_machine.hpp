#pragma once

#include <deque>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/exploration/channel_table.hpp"
#include "core/exploration/chooser.hpp"
#include "core/exploration/lateness_recorder.hpp"
#include "core/exploration/strategy.hpp"

namespace troupe::testing_support {

/// The least that can be explored: queues by channel, and a handler that may put in more.
class toy_machine {
public:
  /// What was handled, in order: channel and ordinal.
  using order = std::vector<std::pair<std::string, std::uint64_t>>;
  using handler = std::function<void(toy_machine&, const std::string&, std::uint64_t)>;

  explicit toy_machine(handler handle) : handle_(std::move(handle)) {}

  void put(std::string_view channel) {
    auto& queue = queues_[names_.intern(channel)];
    ++queue.put;
    queue.waiting.push_back({names_.intern(channel), queue.put, step_});
  }

  /// A closed channel offers nothing, unless all that have something are closed.
  void close(std::string_view channel) { closed_.insert(names_.intern(channel)); }
  void open(std::string_view channel) { closed_.erase(names_.intern(channel)); }

  /// Runs until nothing waits or `steps_max` steps were taken.
  order run(chooser& by, std::uint64_t steps_max = 10'000) {
    order done;
    for (auto enabled = offered(); !enabled.empty() && step_ < steps_max; enabled = offered()) {
      ++step_;
      const auto chosen = by.choose(enabled, step_);
      recorder_.record(enabled, chosen, step_);
      const auto item = enabled.at(chosen);
      queues_.at(item.channel).waiting.pop_front();
      const std::string name = names_.name(item.channel);
      done.emplace_back(name, item.ordinal);
      handle_(*this, name, item.ordinal);
    }
    return done;
  }

  [[nodiscard]] channel_table& names() { return names_; }
  [[nodiscard]] schedule_script lateness() const { return recorder_.script(names_); }

private:
  struct channel_queue {
    std::uint64_t put = 0;
    std::deque<choice> waiting;
  };

  std::vector<choice> offered() {
    std::vector<choice> open_ones;
    std::vector<choice> all;
    for (const auto& [id, queue] : queues_) {
      if (queue.waiting.empty()) continue;
      all.push_back(queue.waiting.front());
      if (closed_.count(id) == 0) open_ones.push_back(queue.waiting.front());
    }
    return open_ones.empty() ? all : open_ones;
  }

  handler handle_;
  channel_table names_;
  lateness_recorder recorder_;
  std::map<std::uint32_t, channel_queue> queues_;
  std::set<std::uint32_t> closed_;
  std::uint64_t step_ = 0;
};

/// A long stream against a single event: a read that is wrong only if it lands when 40 to 49 of
/// the 50 steps of a copy are done.
class late_read {
public:
  /// Whether the run under `by` shows the bug.
  bool fails(chooser& by) {
    (void)machine_.run(by);
    return failed_;
  }
  bool fails(const strategy_draw& draw) { return fails(*make_chooser(draw)); }
  bool fails(const schedule_script& script) {
    return fails(*make_chooser(script, &machine_.names()));
  }

  [[nodiscard]] schedule_script lateness() const { return machine_.lateness(); }

  late_read() {
    machine_.put("client>copy");
    machine_.put("client>read");
  }
  late_read(const late_read&) = delete;
  late_read& operator=(const late_read&) = delete;

private:
  void handle(toy_machine& machine, const std::string& channel) {
    if (channel == "client>read") {
      failed_ = written_ >= 40 && written_ < 50;
      return;
    }
    ++written_;
    if (written_ < 50) machine.put("copy>copy");
  }

  int written_ = 0;
  bool failed_ = false;
  toy_machine machine_{[this](toy_machine& machine, const std::string& channel, std::uint64_t) {
    handle(machine, channel);
  }};
};

} // namespace troupe::testing_support
