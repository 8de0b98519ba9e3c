#include "actors/graphs/graph_replay.hpp"

#include <string>
#include <utility>

#include <gsl/gsl>

#include "actors/block_job.hpp"
#include "actors/copy_loop.hpp"
#include "actors/payloads.hpp"

namespace troupe {
namespace {

// Copies up to this size run where the chain is: a hand-over would cost more than moving them.
constexpr std::size_t inline_copy_bytes = std::size_t{256} << 10;

} // namespace

bool graph_replay::begin() noexcept { return !std::exchange(begun_, true); }

bool graph_replay::begins_first() noexcept { return std::exchange(first_look_, false); }

// Where the plan goes on from the turn at `at`.
std::size_t graph_replay::after_turn(std::size_t at) const noexcept {
  auto& turn = plan_->steps()[at].as<turn_payload>();
  using kind = turn_payload::kind;
  bool taken = true;
  switch (turn.what) {
    case kind::skip_if_zero:
      taken = *static_cast<const volatile std::uint32_t*>(turn.condition) == 0;
      break;
    case kind::jump: break;
    case kind::begin_repeat:
      plan_->steps()[turn.target - 1].as<turn_payload>().left = turn.times;
      taken = turn.times == 0;
      break;
    case kind::next_repeat: taken = --turn.left != 0; break;
  }
  return taken ? turn.target : at + 1;
}

command* graph_replay::step() noexcept {
  auto& steps = plan_->steps();
  while (at_ < steps.size()) {
    auto& step = steps[at_];
    if (!graph_plan::is_turn(step)) {
      if (std::exchange(looked_at_, at_) != at_) {
        first_look_ = true;
        // What an earlier replay, or the round before, has copied is to be copied again.
        if (is_copy(step.kind)) step.as<copy_payload>().begin_again();
      }
      return &step;
    }
    at_ = after_turn(at_);
    looked_at_ = SIZE_MAX; // a step may come again
  }
  return nullptr;
}

status graph_replay::run_ahead(const stop_view& stop, std::uint64_t& kernels) {
  const block whole{0, 1, stop};
  auto* const steps = plan_->steps().data();
  const auto count = plan_->steps().size();
  while (at_ < count && !stop.requested()) {
    auto& step = steps[at_];
    if (step.kind == command_kind::kernel) {
      if (step.blocks != 1) break;
      ++kernels;
      if (auto s = invoke_guarded(step, whole, code::kernel_exception); !s.ok()) return s;
      ++at_;
    } else if (graph_plan::is_turn(step)) {
      at_ = after_turn(at_);
      looked_at_ = SIZE_MAX;
    } else if (is_copy(step.kind) && step.as<copy_payload>().bytes <= inline_copy_bytes) {
      auto& copy = step.as<copy_payload>();
      copy.begin_again();
      (void)copy_chunk(copy, copy.bytes);
      ++at_;
    } else {
      break;
    }
  }
  return {};
}

status graph_replay::run_range(std::size_t begin, std::size_t end, const stop_view& stop,
                               std::uint64_t& kernels) {
  auto* const steps = plan_->steps().data();
  for (auto at = begin; at < end && !stop.requested();) {
    auto& step = steps[at];
    if (graph_plan::is_turn(step)) {
      at = after_turn(at);
      continue;
    }
    if (is_copy(step.kind)) {
      auto& copy = step.as<copy_payload>();
      copy.begin_again();
      while (copy.done < copy.bytes && !stop.requested()) (void)copy_chunk(copy, inline_copy_bytes);
    } else {
      ++kernels;
      for (std::uint32_t i = 0; i < step.blocks; ++i) {
        auto s = invoke_guarded(step, {i, step.blocks, stop}, code::kernel_exception);
        if (!s.ok()) return failure_of(at, s);
      }
    }
    ++at;
  }
  return {};
}

status graph_replay::failure_of(std::size_t at, const status& why) const {
  const auto& step = plan_->steps()[at];
  error_record record = why.record() ? *why.record() : error_record{};
  record.message = "node '" + std::string(step.name) + "' of graph '" + plan_->name() +
                   "', replay " + std::to_string(ordinal_) + ": " + why.message();
  record.site = step.site();
  return status(std::move(record));
}

status graph_payload::invoke(void*, const block&) {
  Expects(false);
  return {};
}

void graph_payload::ranges(const void* payload, const access_sink& sink) {
  const auto& plan = static_cast<const graph_payload*>(payload)->replay->plan();
  for (const auto& step : plan.steps()) {
    if (step.op != nullptr && step.op->ranges != nullptr) step.op->ranges(step.payload(), sink);
  }
}

} // namespace troupe
