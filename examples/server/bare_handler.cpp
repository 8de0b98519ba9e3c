#include "examples/server/bare_handler.hpp"

#include <algorithm>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "examples/digits/bound_network.hpp"

namespace troupe::server {

namespace {

/// Buffers for as many threads as have ever computed at the same time.
class bare_network {
public:
  explicit bare_network(const digits::weight_set& weights) : net_(1, weights) {}

  answer classify(std::span<const float> image) {
    auto use = take();
    std::ranges::copy(image, use->input().begin());
    use->run();
    answer given{verdict::answered, {}, {}};
    std::ranges::copy(use->output(), given.probabilities.begin());
    const std::lock_guard lock(mutex_);
    idle_.push_back(std::move(use));
    return given;
  }

private:
  std::unique_ptr<digits::bound_network> take() {
    {
      const std::lock_guard lock(mutex_);
      if (!idle_.empty()) {
        auto last = std::move(idle_.back());
        idle_.pop_back();
        return last;
      }
    }
    return std::make_unique<digits::bound_network>(net_);
  }

  const digits::network net_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<digits::bound_network>> idle_;
};

} // namespace

classifier make_bare_classifier(const digits::weight_set& weights) {
  const auto net = std::make_shared<bare_network>(weights);
  return [net](std::span<const float> image, clock::time_point,
               const std::function<bool()>&) { return net->classify(image); };
}

} // namespace troupe::server
