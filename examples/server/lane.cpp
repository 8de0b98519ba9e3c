#include "examples/server/lane.hpp"

#include <algorithm>
#include <utility>

#include <gsl/gsl>

#include "examples/digits/pooled_batch.hpp"

namespace troupe::server {

namespace {

/// How often a lane looks whether anybody still waits for what it does.
constexpr timeout look_every{20};

/// Whether any request of the batch has no answer yet. Their deadlines and clients that went away
/// settle them, so that this ends.
bool awaited(const std::vector<std::shared_ptr<request>>& batch) {
  return std::ranges::any_of(batch, [](const auto& each) { return !each->settled(); });
}

} // namespace

struct lane::equipment {
  equipment(const device& where, const networks& nets)
      : home(where.create_context().value()),
        memory(home.create_pool().value()),
        commands(home.create_stream().value()) {
    for (const auto& [size, net] : nets) by_size.try_emplace(size, home, net);
  }

  context home;
  pool memory;
  stream commands;
  std::map<std::size_t, digits::device_network> by_size;
};

lane::lane(const runtime& home, device where, const networks& nets, figures& count)
    : home_(home), where_(std::move(where)), nets_(nets), count_(count) {
  Expects(!nets.empty());
}

lane::~lane() {
  set_down(false);
}

void lane::serve(const std::vector<std::shared_ptr<request>>& batch) {
  Expects(!batch.empty() && batch.size() <= nets_.rbegin()->first);
  count_.batches.fetch_add(1, std::memory_order_relaxed);
  count_.batched_requests.fetch_add(batch.size(), std::memory_order_relaxed);
  auto trouble = try_batch(batch);
  if (trouble && awaited(batch)) {
    count_.retries.fetch_add(1, std::memory_order_relaxed);
    trouble = try_batch(batch);
  }
  if (!trouble) return;
  for (const auto& each : batch) each->settle({verdict::failed, {}, trouble->describe()});
}

lane::failure lane::try_batch(const std::vector<std::shared_ptr<request>>& batch) {
  auto trouble = status();
  try {
    make_ready();
    run_batch(batch);
    return std::nullopt;
  } catch (const error& e) {
    trouble = e.outcome();
  } catch (const std::exception& e) {
    trouble = make_status(code::internal_error, e.what());
  }
  recover(trouble);
  return trouble;
}

void lane::run_batch(const std::vector<std::shared_ptr<request>>& batch) {
  auto& use = *equipment_;
  const auto& net = use.by_size.lower_bound(batch.size())->second;
  const auto input = std::span(input_.data(), net.tensors().front().floats);
  const auto output = std::span(output_.data(), net.tensors().back().floats);
  auto place = input.begin();
  for (const auto& each : batch) place = std::ranges::copy(each->image(), place).out;
  std::fill(place, input.end(), 0.0F);

  const auto scores = digits::submit_pooled(net, use.memory, use.commands, input);
  use.commands.copy(output, scores).or_throw();
  auto ended = use.commands.synchronize(look_every);
  while (ended.code() == code::stream_sync_timeout && awaited(batch)) {
    ended = use.commands.synchronize(look_every);
  }
  ended.or_throw();

  for (std::size_t row = 0; row < batch.size(); ++row) {
    answer given{verdict::answered, {}, {}};
    std::ranges::copy(output.subspan(row * digits::class_count, digits::class_count),
                      given.probabilities.begin());
    batch[row]->settle(std::move(given));
  }
}

void lane::make_ready() {
  if (equipment_ != nullptr) return;
  const auto& largest = *nets_.rbegin()->second;
  input_ = home_.allocate_host<float>(largest.tensors().front().floats).value();
  output_ = home_.allocate_host<float>(largest.tensors().back().floats).value();
  equipment_ = std::make_unique<equipment>(where_, nets_);
  set_down(false);
}

// Work that is still under way may touch the device's memory and this lane's host memory. So all of
// it is given back, which the runtime does when that work has ended, and the next batch takes new.
void lane::recover(const status& from) {
  if (equipment_ != nullptr) {
    (void)equipment_->home.destroy();
    count_.rebuilds.fetch_add(1, std::memory_order_relaxed);
  }
  equipment_.reset();
  input_ = {};
  output_ = {};
  if (from.code() == code::lost_heartbeat) (void)where_.reset();
  set_down(true);
}

void lane::set_down(bool down) {
  if (down == down_) return;
  down_ = down;
  if (down) {
    count_.lanes_down.fetch_add(1, std::memory_order_relaxed);
  } else {
    count_.lanes_down.fetch_sub(1, std::memory_order_relaxed);
  }
}

} // namespace troupe::server
