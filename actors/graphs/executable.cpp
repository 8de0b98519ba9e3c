#include "actors/graphs/executable.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "actors/context_record.hpp"
#include "actors/device_record.hpp"
#include "actors/graphs/graph_replay.hpp"
#include "actors/machine.hpp"
#include "actors/mapped_uses.hpp"
#include "actors/memory_record.hpp"
#include "actors/payloads.hpp"
#include "actors/stream_record.hpp"
#include "core/graphs/graph_codes.hpp"
#include "core/task.hpp"

namespace troupe {
namespace {

status check_range(const context_record& context, const access_range& range,
                   const timeline* user) {
  if (range.bytes == 0) return {};
  auto* memory = context.home().locate(range.base).memory;
  if (memory == nullptr) return check_mapped(context.home(), context.id(), range);
  using side = memory_record::side;
  const auto where = range.mode == access_mode::read ? side::source : side::target;
  return memory->owner_of(range.base, range.bytes, user, where).error();
}

std::vector<access_range> ranges_of(const command& work) {
  std::vector<access_range> all;
  const auto take = [](void* self, const access_range& range) {
    static_cast<std::vector<access_range>*>(self)->push_back(range);
  };
  if (work.op != nullptr && work.op->ranges != nullptr) {
    work.op->ranges(work.payload(), {take, &all});
  }
  return all;
}

} // namespace

result<std::shared_ptr<executable>> executable::instantiate(std::shared_ptr<context_record> context,
                                                            graph_ir graph) {
  if (auto s = graph.validate(); !s.ok()) return s;
  if (auto s = context->check_usable(); !s.ok()) return s;
  auto plan = std::make_shared<graph_plan>(graph);
  auto made = std::make_shared<executable>(std::move(context), std::move(graph), std::move(plan));
  if (auto s = made->check_memory(nullptr); !s.ok()) return s;
  if (auto s = made->charge(); !s.ok()) return s;
  return made;
}

executable::executable(std::shared_ptr<context_record> context, graph_ir graph,
                       std::shared_ptr<graph_plan> plan)
    : context_(std::move(context)), id_(context_->home().next_id()),
      label_(intern_name(graph.name())), graph_(std::move(graph)),
      plan_(std::move(plan)), lanes_(std::clamp<std::size_t>(plan_->width(), 1, lanes_max)) {
  note_memory();
}

executable::~executable() { release(); }

// Each range once, with the first step that names it, as most steps touch what others do; a range
// that comes again after many others may be there twice.
void executable::note_memory() {
  constexpr std::ptrdiff_t looked_back_max = 256;
  memory_.clear();
  for (const auto& step : plan_->steps()) {
    for (const auto& each : ranges_of(step)) {
      const auto known = [&each](const named_range& other) {
        return other.range.base == each.base && other.range.bytes == each.bytes &&
               other.range.mode == each.mode;
      };
      const auto last = memory_.rbegin();
      const auto count = std::min(looked_back_max, memory_.rend() - last);
      if (std::none_of(last, last + count, known)) memory_.push_back({each, step.name});
    }
  }
}

status executable::check_memory(const timeline* user) const {
  for (const auto& [range, name] : memory_) {
    const auto s = check_range(*context_, range, user);
    if (s.ok()) continue;
    return make_status(s.code(), "node '" + std::string(name) + "' of graph '" + graph_.name() +
                                     "': " + s.message());
  }
  return {};
}

status executable::charge() {
  auto& device = context_->device();
  const auto limit = device.profile().stream_limit;
  const auto before = device.stream_count.fetch_add(lanes_, std::memory_order_relaxed);
  charged_ = true;
  if (before + lanes_ <= limit) return {};
  release();
  error_record record;
  record.what = code::resource_shortage;
  record.message = "graph '" + graph_.name() + "' needs " + std::to_string(lanes_) +
                   " streams of device " + std::to_string(device.index()) + ", where " +
                   std::to_string(before) + " of " + std::to_string(limit) +
                   " are held by streams and executable graphs";
  record.device = device.index();
  record.context = context_->id();
  record.lacking = shortage{"streams", lanes_, before, limit};
  return status(std::move(record));
}

void executable::release() noexcept {
  if (!std::exchange(charged_, false)) return;
  context_->device().stream_count.fetch_sub(lanes_, std::memory_order_relaxed);
}

std::uint64_t executable::replays() const {
  const std::lock_guard lock(guard_);
  return replays_;
}

graph_ir executable::content() const {
  const std::lock_guard lock(guard_);
  return graph_;
}

bool executable::running() const { return last_.line && !last_.ended(); }

status executable::destroyed_already() const {
  return make_status(code::invalid_handle,
                     "the executable graph '" + graph_.name() + "' has been destroyed");
}

status executable::launch(stream_record& target, call_site site) {
  std::unique_lock lock(guard_);
  if (destroyed_) return destroyed_already();
  if (auto s = check_memory(target.line().get()); !s.ok()) return s;
  const bool elsewhere = running() && last_.line != target.line();
  if (running() && last_.line->state_of(last_.number) == ticket_state::dropped) {
    return make_status(graph_codes::model_running,
                       "replay " + std::to_string(replays_) + " of graph '" + graph_.name() +
                           "' was aborted and has not returned yet");
  }
  if (elsewhere) {
    wait_payload payload;
    payload.line = last_.line;
    payload.number = last_.number;
    command wait(command_kind::wait, "wait", site);
    wait.emplace<wait_payload>(wait_ops, std::move(payload));
    if (auto s = target.submit(std::move(wait)); !s.ok()) return s;
  }
  command made(command_kind::kernel, label_, site);
  made.emplace<graph_payload>(graph_ops, std::make_shared<graph_replay>(plan_, replays_ + 1));
  std::uint64_t number = 0;
  if (auto s = target.submit(std::move(made), &number); !s.ok()) return s;
  ++replays_;
  last_ = {target.line(), number};
  return {};
}

// Work that is refused leaves what came before it replaced: then that is put back.
status executable::replace(gsl::span<const change> changes) {
  std::vector<std::shared_ptr<command>> before;
  for (const auto& each : changes) {
    const auto in = graph_.inner(each.way);
    const bool there = in && each.node < in.value()->nodes().size();
    auto old = there ? in.value()->nodes()[each.node].work : nullptr;
    if (auto s = graph_.replace_work(each.node, each.work, each.way); !s.ok()) {
      while (!before.empty()) {
        const auto& made = changes[before.size() - 1];
        (void)graph_.replace_work(made.node, std::move(before.back()), made.way);
        before.pop_back();
      }
      return s;
    }
    before.push_back(std::move(old));
  }
  return {};
}

status executable::update(gsl::span<const change> changes) {
  const std::lock_guard lock(guard_);
  if (destroyed_) return destroyed_already();
  for (const auto& wanted : changes) {
    for (const auto& each : ranges_of(*wanted.work)) {
      if (auto s = check_range(*context_, each, nullptr); !s.ok()) return s;
    }
  }
  if (auto s = replace(changes); !s.ok()) return s;
  // Replays in flight keep the plan they were launched with.
  if (running() || plan_.use_count() > 1) {
    plan_ = std::make_shared<graph_plan>(graph_);
  } else {
    for (const auto& each : changes) plan_->replace(each.node, each.work, each.way);
  }
  note_memory();
  return {};
}

status executable::destroy() {
  const std::lock_guard lock(guard_);
  if (destroyed_) return destroyed_already();
  if (running()) {
    return make_status(graph_codes::model_running,
                       "replay " + std::to_string(replays_) + " of graph '" + graph_.name() +
                           "' on stream " + std::to_string(last_.line->id()) + " has not ended");
  }
  destroyed_ = true;
  release();
  return {};
}

} // namespace troupe
