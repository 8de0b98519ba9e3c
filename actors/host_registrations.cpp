#include "actors/host_registrations.hpp"

#include <bit>
#include <iterator>
#include <mutex>
#include <string>

namespace troupe {
namespace {

std::uint64_t key_of(const void* address) { return std::bit_cast<std::uint64_t>(address); }

status refuse(const std::string& why) { return make_status(code::invalid_parameter, why); }

} // namespace

status host_registrations::add(const void* address, std::size_t bytes) {
  const auto begin = key_of(address);
  if (bytes > UINT64_MAX - begin) {
    return refuse("a range of " + std::to_string(bytes) +
                  " bytes goes beyond the end of all addresses");
  }
  const std::lock_guard lock(guard_);
  if (ranges_.size() == ranges_max) {
    return make_status(code::over_limit,
                       std::to_string(ranges_max) + " ranges are registered, which is the limit");
  }
  const auto next = ranges_.lower_bound(begin);
  const bool meets_next = next != ranges_.end() && next->first - begin < bytes;
  bool meets_last = false;
  if (next != ranges_.begin()) {
    const auto last = std::prev(next);
    meets_last = begin - last->first < last->second;
  }
  if (meets_next || meets_last) {
    return refuse("some of the " + std::to_string(bytes) + " bytes is registered already");
  }
  ranges_.emplace(begin, bytes);
  count_.store(ranges_.size(), std::memory_order_release);
  return {};
}

status host_registrations::remove(const void* address) {
  const std::lock_guard lock(guard_);
  if (ranges_.erase(key_of(address)) == 0) {
    return refuse("no registered range begins at the address");
  }
  count_.store(ranges_.size(), std::memory_order_release);
  return {};
}

// How many bytes of the range that `address` is in lie from there on; 0 for none.
std::size_t host_registrations::find(const void* address) const noexcept {
  const auto sought = key_of(address);
  const std::shared_lock lock(guard_);
  auto at = ranges_.upper_bound(sought);
  if (at == ranges_.begin()) return 0;
  --at;
  const auto offset = sought - at->first;
  return offset < at->second ? at->second - offset : 0;
}

status host_registrations::check(const void* address, std::size_t bytes) const {
  const auto left = find(address);
  if (bytes <= left) return {};
  return refuse(std::to_string(bytes) + " bytes leave the registered range, which has " +
                std::to_string(left) + " bytes from there on");
}

} // namespace troupe
