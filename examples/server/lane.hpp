#pragma once

#include <map>
#include <memory>
#include <optional>
#include <vector>

#include <troupe/troupe.hpp>

#include "examples/digits/device_network.hpp"
#include "examples/server/figures.hpp"
#include "examples/server/request.hpp"

namespace troupe::server {

/// The network for several batch sizes, smallest first: made once, shared by all lanes.
using networks = std::map<std::size_t, std::shared_ptr<const digits::network>>;

/// One stream of work in a context of its own, so that what fails here reaches no other lane. Takes
/// batches, one after the other, and gives each request an answer, whatever happens. One thread.
class lane {
public:
  /// Nothing of the device is used before the first batch.
  lane(const runtime& home, device where, const networks& nets, figures& count);
  ~lane();
  lane(const lane&) = delete;
  lane& operator=(const lane&) = delete;

  /// Answers all requests of `batch`, which holds at least one and no more than the largest network
  /// takes. A batch that fails on the device is tried once more, in a new context if need be: the
  /// network has no state, so that running it twice is the same as once.
  void serve(const std::vector<std::shared_ptr<request>>& batch);

private:
  /// What the lane has on the device.
  struct equipment;

  using failure = std::optional<status>; ///< nothing if all went well

  [[nodiscard]] failure try_batch(const std::vector<std::shared_ptr<request>>& batch);
  void run_batch(const std::vector<std::shared_ptr<request>>& batch);
  void make_ready();
  void recover(const status& from);
  void set_down(bool down);

  const runtime& home_;
  device where_;
  const networks& nets_;
  figures& count_;
  host_buffer<float> input_;
  host_buffer<float> output_;
  std::unique_ptr<equipment> equipment_;
  bool down_ = false;
};

} // namespace troupe::server
