#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include <troupe/troupe.hpp>

#include "examples/digits/network.hpp"
#include "examples/server/figures.hpp"
#include "examples/server/request.hpp"

namespace troupe::server {

/// The network for several batch sizes, smallest first: made once, shared by all lanes.
using networks = std::map<std::size_t, std::shared_ptr<const digits::network>>;

/// One stream of work in a context of its own, so that what fails here reaches no other lane. A batch
/// is one replay of a graph: copy in, the network's fused operators, copy out. One thread at a time.
class lane {
public:
  /// Nothing of the device is used before the first batch.
  lane(const runtime& home, device where, const networks& nets, figures& count);
  ~lane();
  lane(const lane&) = delete;
  lane& operator=(const lane&) = delete;

  /// Answers `only` as long as it is wanted, on the thread that waits for it. False if that failed,
  /// or ended before the device did: then `serve` must be called with it, to put the lane in order,
  /// which may take longer than who waits has time.
  [[nodiscard]] bool try_one(const std::shared_ptr<request>& only,
                             const std::function<bool()>& gone);

  /// Answers all requests of `batch`, which holds at least one and no more than the largest network
  /// takes. A batch that fails on the device, here or in `try_one`, is tried once more, in a new
  /// context: the network has no state, so that running it twice is the same as once.
  void serve(std::span<const std::shared_ptr<request>> batch);

private:
  using requests = std::span<const std::shared_ptr<request>>;
  using failure = std::optional<status>; ///< nothing if all went well

  /// What the lane has on the device, and for one batch size.
  struct equipment;
  struct sized;

  [[nodiscard]] failure attempt(requests batch, const std::function<bool()>& wanted);
  void run_batch(requests batch, const std::function<bool()>& wanted);
  void make_ready();
  const sized& ready_for(std::size_t size_min);
  void recover(const status& from);
  void set_down(bool down);

  const runtime& home_;
  device where_;
  const networks& nets_;
  figures& count_;
  host_buffer<float> input_;
  host_buffer<float> output_;
  std::unique_ptr<equipment> equipment_;
  failure left_by_; ///< why `try_one` has left its request to `serve`
  bool down_ = false;
};

} // namespace troupe::server
