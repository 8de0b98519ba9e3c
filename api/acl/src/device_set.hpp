#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>

#include "api/acl/src/objects.hpp"
#include "core/status.hpp"

namespace troupe::acl {

/// The devices' primary contexts, by the handles they go by. Any thread.
class device_set {
 public:
  /// Takes a use of the device's primary context and makes it the calling thread's current one.
  status set(std::int32_t device);

  /// Gives a use back, or all by `force`; see `runtime::reset_device`.
  status reset(std::int32_t device, bool force);

  /// Whether the device's primary context is there.
  [[nodiscard]] bool active(std::int32_t device) const;

  [[nodiscard]] static device_set& instance();

  struct primary {
    std::shared_ptr<context_object> object;
    void* handle = nullptr;
  };
  using primaries = std::map<std::int32_t, primary>;
  /// Knows `other` from now on, of another runtime, and returns what it knew.
  primaries exchange(primaries other);

 private:
  mutable std::mutex guard_;
  primaries primaries_;
};

}  // namespace troupe::acl
