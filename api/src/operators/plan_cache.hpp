#pragma once

#include <cstddef>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "api/src/operators/plan.hpp"

namespace troupe::operators {

/// Plans by the text of their description; at most `limit`, of which the one unused longest makes
/// room. Any thread; a plan in use outlives its place here.
class plan_cache {
public:
  explicit plan_cache(std::size_t limit) : limit_(limit) {}

  /// Throws what `make_plan` throws; nothing is kept then.
  [[nodiscard]] std::shared_ptr<const plan> get(const operator_description& d);
  [[nodiscard]] std::size_t size() const;

  /// Hold it still while the process forks.
  void hold() { guard_.lock(); }
  void release() { guard_.unlock(); }

private:
  using entry = std::pair<std::string, std::shared_ptr<const plan>>;

  std::shared_ptr<const plan> find(const std::string& key);

  const std::size_t limit_;
  mutable std::mutex guard_;
  std::list<entry> entries_; // the latest used first
  std::map<std::string, std::list<entry>::iterator> places_;
};

/// The cache of this process: primitives belong to the processor, not to a runtime.
[[nodiscard]] plan_cache& plans();

} // namespace troupe::operators
