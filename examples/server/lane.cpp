#include "examples/server/lane.hpp"

#include <algorithm>
#include <utility>

#include <gsl/gsl>

#include "examples/digits/digits_data.hpp"
#include "examples/digits/operator_network.hpp"

namespace troupe::server {

namespace {

/// How often a lane looks whether anybody still waits for what it does.
constexpr timeout look_every{20};

/// Whether any request of the batch has no answer yet. Their deadlines and clients that went away
/// settle them, so that this ends.
bool awaited(std::span<const std::shared_ptr<request>> batch) {
  return std::ranges::any_of(batch, [](const auto& each) { return !each->settled(); });
}

} // namespace

/// The network for one batch size, between the lane's host memory, as one graph.
struct lane::sized {
  sized(const context& home, stream commands, const digits::network& net,
        std::span<float> input, std::span<float> output)
      : weights(home, net), batch(home, weights) {
    capturing::begin(commands, capturing::mode::thread_bound).or_throw();
    commands.copy(batch.images.elements<float>(), input).or_throw();
    batch.run.launch(commands).or_throw();
    commands.copy(output, batch.probabilities.elements<float>()).or_throw();
    all = executable_graph::instantiate(home, capturing::end(commands).value()).value();
  }

  digits::operator_network weights;
  digits::graph_batch batch;
  executable_graph all;
};

struct lane::equipment {
  explicit equipment(const device& where)
      : home(where.create_context().value()), commands(home.create_stream().value()) {}

  context home;
  stream commands;
  std::map<std::size_t, sized> by_size;
};

lane::lane(const runtime& home, device where, const networks& nets, figures& count)
    : home_(home), where_(std::move(where)), nets_(nets), count_(count) {
  Expects(!nets.empty());
}

lane::~lane() {
  set_down(false);
}

bool lane::try_one(const std::shared_ptr<request>& only, const std::function<bool()>& gone) {
  Expects(!left_by_);
  count_.batches.fetch_add(1, std::memory_order_relaxed);
  count_.batched_requests.fetch_add(1, std::memory_order_relaxed);
  left_by_ = attempt({&only, 1}, [&] { return only->still_wanted(gone); });
  return !left_by_;
}

void lane::serve(requests batch) {
  Expects(!batch.empty() && batch.size() <= nets_.rbegin()->first);
  const auto wanted = [&] { return awaited(batch); };
  auto trouble = std::exchange(left_by_, std::nullopt);
  if (!trouble) {
    count_.batches.fetch_add(1, std::memory_order_relaxed);
    count_.batched_requests.fetch_add(batch.size(), std::memory_order_relaxed);
    trouble = attempt(batch, wanted);
  }
  if (trouble) recover(*trouble);
  if (trouble && wanted()) {
    count_.retries.fetch_add(1, std::memory_order_relaxed);
    trouble = attempt(batch, wanted);
    if (trouble) recover(*trouble);
  }
  if (!trouble) return;
  for (const auto& each : batch) each->settle({verdict::failed, {}, trouble->describe()});
}

lane::failure lane::attempt(requests batch, const std::function<bool()>& wanted) {
  try {
    make_ready();
    run_batch(batch, wanted);
    return std::nullopt;
  } catch (const error& e) {
    return e.outcome();
  } catch (const std::exception& e) {
    return make_status(code::internal_error, e.what());
  }
}

void lane::run_batch(requests batch, const std::function<bool()>& wanted) {
  const auto& net = ready_for(batch.size());
  auto place = input_.begin();
  for (const auto& each : batch) place = std::ranges::copy(each->image(), place).out;
  const auto padded = net.weights.batch() * digits::image_pixels;
  std::fill(place, input_.begin() + static_cast<std::ptrdiff_t>(padded), 0.0F);

  const auto& commands = equipment_->commands;
  net.all.launch(commands).or_throw();
  auto ended = commands.synchronize(look_every);
  while (ended.code() == code::stream_sync_timeout && wanted()) {
    ended = commands.synchronize(look_every);
  }
  ended.or_throw();

  for (std::size_t row = 0; row < batch.size(); ++row) {
    answer given{verdict::answered, {}, {}};
    std::copy_n(output_.begin() + static_cast<std::ptrdiff_t>(row * digits::class_count),
                digits::class_count, given.probabilities.begin());
    batch[row]->settle(std::move(given));
  }
}

void lane::make_ready() {
  if (equipment_ != nullptr) return;
  const auto most = nets_.rbegin()->first;
  input_ = home_.allocate_host<float>(most * digits::image_pixels).value();
  output_ = home_.allocate_host<float>(most * digits::class_count).value();
  equipment_ = std::make_unique<equipment>(where_);
  set_down(false);
}

// Made when a batch of that size comes for the first time.
const lane::sized& lane::ready_for(std::size_t size_min) {
  auto& use = *equipment_;
  const auto& [size, net] = *nets_.lower_bound(size_min);
  if (const auto made = use.by_size.find(size); made != use.by_size.end()) return made->second;
  return use.by_size
      .try_emplace(size, use.home, use.commands, *net,
                   std::span(input_.data(), size * digits::image_pixels),
                   std::span(output_.data(), size * digits::class_count))
      .first->second;
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
