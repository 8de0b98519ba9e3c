#include "tests/bench/limit.hpp"

#include "tests/bench/table.hpp"

#include <fmt/format.h>
#include <gsl/gsl>

#include <algorithm>

namespace troupe::bench {

namespace {

const std::vector<std::string> caf{"caf_stealing", "caf_sharing"};
const std::vector<std::string> pocl{"pocl"};
const std::vector<std::string> memcpy_speed{"direct"};

const std::vector<std::string> oneDNN{"direct"};

std::vector<limit> make_limits() {
  using enum limit::kind;
  return {
    {"launch_throughput", share_of_peer, caf, 0.5, 0.15},
    {"launch_throughput", share_of_peer, pocl, 0.1, 0.015},
    {"launch_sync", share_of_peer, pocl, 0.1, 0.015},
    {"event_chain", share_of_peer, pocl, 1.0, 0.15},
    {"graph_chain_1000", absolute, {}, 60, 10},
    {"graph_wide_1000", share_of_row, {"graph_eager_1000"}, 1.0, {}},
    {"idle_sync", absolute, {}, 100, {}},
    {"event_record", absolute, {}, 100, {}},
    {"stream_create_destroy", absolute, {}, 10'000, {}},
    {"pool_churn", share_of_peer, {"mimalloc"}, 1.0, {}},
    {"fragmentation", share_of_peer, {"buddy"}, 1.0, {}},
    {"alloc_1m_cleared", absolute, {}, 100'000, {}},
    {"copy_h2d_1m", speed_of_peer, memcpy_speed, 0.9, 0.98},
    {"copy_h2d_64m", speed_of_peer, memcpy_speed, 0.9, 0.98},
    {"copy_d2h_1m", speed_of_peer, memcpy_speed, 0.9, 0.98},
    {"copy_batch_1000x4k", speed_of_peer, memcpy_speed, 0.9, 0.98},
    {"convert_f32_f16_16m", speed_of_peer, memcpy_speed, 0.9, 0.98},
    {"streams_10000", share_of_row, {"streams_1"}, 2.0, {}},
    {"fused_mlp", speed_of_peer, oneDNN, 0.9, 0.97},
    {"fused_mlp", share_of_row, {"unfused_mlp"}, 1.0, {}},
    {"fused_conv", speed_of_peer, oneDNN, 0.9, 0.97},
    {"fused_conv", share_of_row, {"unfused_conv"}, 1.0, {}},
    {"idle_cpu", absolute, {}, 0.1, {}},
    {"simulated_small", absolute, {}, 10'000, 50'000},
    {"simulated_reference", absolute, {}, 200, 1'000},
  };
}

std::optional<double> best_peer(const results& found, const limit& l) {
  std::optional<double> best;
  for (const auto& peer : l.others)
    if (const auto figure = found.figure(l.row, peer))
      best = best ? std::min(*best, *figure) : *figure;
  return best;
}

std::optional<double> measure(const results& found, const limit& l, std::string_view contender) {
  const auto own = found.figure(l.row, contender);
  if (!own || l.measure == limit::kind::absolute)
    return own;
  const auto other = l.measure == limit::kind::share_of_row
                       ? found.figure(l.others.at(0), contender)
                       : best_peer(found, l);
  if (!other || *other <= 0 || *own <= 0)
    return std::nullopt;
  return l.measure == limit::kind::speed_of_peer ? *other / *own : *own / *other;
}

}  // namespace

const std::vector<limit>& all_limits() {
  static const auto limits = make_limits();
  return limits;
}

bool verdict::meets(double bound) const {
  if (!measured)
    return false;
  const auto larger = judged.measure == limit::kind::absolute
                        ? larger_is_better(find_row(judged.row)->figure)
                        : judged.measure == limit::kind::speed_of_peer;
  return larger ? *measured >= bound : *measured <= bound;
}

std::string_view verdict::text() const {
  if (!measured)
    return "not measured";
  if (!meets(judged.must))
    return "NOT MET";
  return judged.goal && meets(*judged.goal) ? "met, goal too" : "met";
}

std::string verdict::bound_text() const {
  const auto* r = find_row(judged.row);
  Expects(r != nullptr);
  const auto other = fmt::format("{}", fmt::join(judged.others, "/"));
  switch (judged.measure) {
    case limit::kind::absolute:
      return (larger_is_better(r->figure) ? ">= " : "<= ") + format_figure(judged.must, r->figure);
    case limit::kind::share_of_peer:
    case limit::kind::share_of_row: return fmt::format("<= {} x {}", judged.must, other);
    case limit::kind::speed_of_peer: return fmt::format(">= {} x speed of {}", judged.must, other);
  }
  return {};
}

std::vector<verdict> judge(const results& found, const std::vector<row>& rows,
                           std::string_view contender) {
  std::vector<verdict> verdicts;
  for (const auto& l : all_limits()) {
    const bool was_run =
      std::any_of(rows.begin(), rows.end(), [&](const row& r) { return r.name == l.row; });
    if (was_run)
      verdicts.push_back({l, measure(found, l, contender)});
  }
  return verdicts;
}

}  // namespace troupe::bench
