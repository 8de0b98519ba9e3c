#include "examples/digits/measure.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>
#include <gsl/gsl>

namespace troupe::digits {

namespace {

/// One contestant, once over all images.
struct round {
  device_counters before;
  device_counters after;
  std::uint64_t pool_allocations;
  answers given;
};

round run_round(const contestant& who, const device& where, const image_set& images) {
  const auto pooled = [&] { return who.pool_allocations ? who.pool_allocations() : 0; };
  const auto pooled_before = pooled();
  const auto before = where.counters();
  auto given = who.run(images);
  const auto after = where.counters();
  return {before, after, pooled() - pooled_before, std::move(given)};
}

/// The smallest value that `share` of all values do not exceed.
double percentile(std::vector<double> values, double share) {
  Expects(!values.empty());
  std::ranges::sort(values);
  const auto rank = std::ceil(share * static_cast<double>(values.size()));
  return values[static_cast<std::size_t>(std::max(rank, 1.0)) - 1];
}

double share_of_time(std::int64_t busy_ns, std::size_t engines, const round& of) {
  const auto elapsed = static_cast<double>(of.after.elapsed_ns - of.before.elapsed_ns);
  const auto capacity = elapsed * static_cast<double>(engines);
  return capacity > 0 ? static_cast<double>(busy_ns) / capacity : 0.0;
}

std::size_t count_right(const std::vector<std::uint8_t>& predictions, const image_set& images) {
  std::size_t right = 0;
  for (std::size_t i = 0; i < images.size(); ++i) right += predictions[i] == images.labels[i];
  return right;
}

void expect_identical(const contestant& a, const answers& by_a, const contestant& b,
                      const answers& by_b) {
  const auto& left = by_a.predictions;
  const auto& right = by_b.predictions;
  const auto found = std::ranges::mismatch(left, right);
  if (found.in1 == left.end()) return;
  const auto differing =
      std::transform_reduce(left.begin(), left.end(), right.begin(), std::size_t{0}, std::plus<>(),
                            std::not_equal_to<>());
  throw std::runtime_error(fmt::format(
      "predictions differ for {} of {} images; the first is image {}: {} by \"{}\", {} by \"{}\"",
      differing, left.size(), found.in1 - left.begin(), *found.in1, a.name, *found.in2, b.name));
}

figures summarise(const contestant& who, std::vector<round> rounds, const image_set& images) {
  figures made;
  made.name = who.name;
  made.change = who.change;
  made.on_device = who.on_device;
  std::vector<double> latencies;
  for (const auto& each : rounds) {
    const auto& more = each.given.latencies_ms;
    latencies.insert(latencies.end(), more.begin(), more.end());
  }
  made.p50_ms = percentile(latencies, 0.5);
  made.p99_ms = percentile(std::move(latencies), 0.99);

  std::ranges::sort(rounds, {}, [](const round& each) { return each.given.seconds; });
  const auto& median = rounds[rounds.size() / 2];
  const auto& before = median.before;
  const auto& after = median.after;
  made.images_per_s = static_cast<double>(images.size()) / median.given.seconds;
  made.device_allocations = after.allocations - before.allocations;
  made.pool_allocations = median.pool_allocations;
  made.launches = after.compute.commands - before.compute.commands;
  const auto batches = median.given.latencies_ms.size();
  made.launches_saved = who.saved_each_batch.launches * batches;
  made.bytes_saved = who.saved_each_batch.bytes * batches;
  made.bytes_copied = after.dma_h2d.bytes - before.dma_h2d.bytes + after.dma_d2h.bytes -
                      before.dma_d2h.bytes;
  made.compute_use =
      share_of_time(after.compute.busy_ns - before.compute.busy_ns, after.engines_max, median);
  made.dma_use = share_of_time(after.dma_h2d.busy_ns - before.dma_h2d.busy_ns +
                                   after.dma_d2h.busy_ns - before.dma_d2h.busy_ns,
                               after.dma_h2d.engines + after.dma_d2h.engines, median);
  made.right = count_right(median.given.predictions, images);
  return made;
}

/// Enough images to touch all buffers and start all engines.
image_set first_images(const image_set& images, std::size_t count) {
  const auto kept = static_cast<std::ptrdiff_t>(std::min(count, images.size()));
  return {{images.pixels.begin(), images.pixels.begin() + kept * std::ptrdiff_t{image_pixels}},
          {images.labels.begin(), images.labels.begin() + kept}};
}

} // namespace

std::vector<figures> measure(std::span<const contestant> contestants, const device& where,
                             const image_set& images, std::size_t rounds, progress& shown) {
  Expects(!contestants.empty() && rounds >= 1);
  constexpr std::size_t warm_up_images = 256;
  const auto warm_up = first_images(images, warm_up_images);
  for (const auto& who : contestants) (void)who.run(warm_up);

  std::vector<std::vector<round>> done(contestants.size());
  for (std::size_t turn = 0; turn < rounds; ++turn) {
    for (std::size_t i = 0; i < contestants.size(); ++i) {
      const auto& who = contestants[i];
      shown.begin(fmt::format("round {}: {}", turn + 1, who.name));
      done[i].push_back(run_round(who, where, images));
      expect_identical(contestants.front(), done.front().front().given, who,
                       done[i].back().given);
    }
  }
  std::vector<figures> made;
  for (std::size_t i = 0; i < contestants.size(); ++i) {
    made.push_back(summarise(contestants[i], std::move(done[i]), images));
  }
  return made;
}

} // namespace troupe::digits
