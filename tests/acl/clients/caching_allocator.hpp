#pragma once

#include <algorithm>
#include <cstddef>
#include <deque>
#include <exception>
#include <map>
#include <mutex>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <acl/acl.h>

/// Ends what a client does when a call fails.
inline void must(aclError told, const char* what) {
  if (told == ACL_SUCCESS) return;
  const auto* const words = aclGetRecentErrMsg();
  throw std::runtime_error(std::string(what) + " gives " + std::to_string(told) + ": " +
                           (words != nullptr ? words : ""));
}

/// A client's allocator of device memory, as frameworks have them: a block that is freed serves the
/// next request of its stream at once, without a wait, as that stream's order protects it. A block
/// that other streams used, too, gets an event on each of them and serves again when a poll finds
/// all of these reached. When the device has no memory left, what is cached goes back to it. Threads
/// of one device's current context.
class caching_allocator {
 public:
  struct counters {
    std::size_t from_device = 0;
    std::size_t reused = 0;
    std::size_t flushed = 0;
    std::size_t polled = 0;
  };

  ~caching_allocator() {
    try {
      flush();
    } catch (const std::exception&) {
      // The device has failed: so will all that is left to do.
    }
    for (auto* const each : spare_events_) (void)aclrtDestroyEvent(each);
  }

  void* allocate(std::size_t bytes, aclrtStream stream) {
    const auto size = (bytes + unit - 1) / unit * unit;
    const std::lock_guard lock(guard_);
    poll();
    auto& cached = free_[{stream, size}];
    void* address = nullptr;
    if (!cached.empty()) {
      address = cached.back();
      cached.pop_back();
      ++seen_.reused;
    } else {
      address = from_device(size);
    }
    blocks_[address] = {size, stream, {}};
    return address;
  }

  /// `user` uses the block, too, from now on.
  void record_stream(void* address, aclrtStream user) {
    const std::lock_guard lock(guard_);
    auto& block = blocks_.at(address);
    if (user != block.stream) block.users.insert(user);
  }

  void free(void* address) {
    const std::lock_guard lock(guard_);
    const auto at = blocks_.find(address);
    if (at == blocks_.end()) throw std::runtime_error("a block is freed that is not in use");
    const auto block = std::move(at->second);
    blocks_.erase(at);
    if (block.users.empty()) {
      free_[{block.stream, block.bytes}].push_back(address);
      return;
    }
    waiting made{address, block, {}};
    for (auto* const each : block.users) {
      auto* const event = take_event();
      must(aclrtRecordEvent(event, each), "aclrtRecordEvent");
      made.events.push_back(event);
    }
    waiting_.push_back(std::move(made));
  }

  [[nodiscard]] counters seen() {
    const std::lock_guard lock(guard_);
    return seen_;
  }

 private:
  static constexpr std::size_t unit = 512;

  struct held {
    std::size_t bytes = 0;
    aclrtStream stream = nullptr;
    std::set<aclrtStream> users;  // besides its own stream
  };
  struct waiting {
    void* address;
    held what;
    std::vector<aclrtEvent> events;
  };

  void* from_device(std::size_t size) {
    void* address = nullptr;
    auto told = aclrtMalloc(&address, size, ACL_MEM_MALLOC_HUGE_FIRST);
    if (told == ACL_ERROR_RT_MEMORY_ALLOCATION) {
      flush();
      told = aclrtMalloc(&address, size, ACL_MEM_MALLOC_HUGE_FIRST);
    }
    must(told, "aclrtMalloc");
    ++seen_.from_device;
    return address;
  }

  aclrtEvent take_event() {
    if (!spare_events_.empty()) {
      auto* const event = spare_events_.back();
      spare_events_.pop_back();
      return event;
    }
    aclrtEvent event = nullptr;
    must(aclrtCreateEventExWithFlag(&event, ACL_EVENT_SYNC), "aclrtCreateEventExWithFlag");
    return event;
  }

  // Gives back what other streams are done with; asks, and never waits.
  void poll() {
    for (auto at = waiting_.begin(); at != waiting_.end();) {
      while (!at->events.empty() && reached(at->events.back())) {
        spare_events_.push_back(at->events.back());
        at->events.pop_back();
      }
      if (!at->events.empty()) {
        ++at;
        continue;
      }
      free_[{at->what.stream, at->what.bytes}].push_back(at->address);
      at = waiting_.erase(at);
    }
  }

  bool reached(aclrtEvent event) {
    ++seen_.polled;
    auto status = ACL_EVENT_RECORDED_STATUS_NOT_READY;
    must(aclrtQueryEventStatus(event, &status), "aclrtQueryEventStatus");
    return status == ACL_EVENT_RECORDED_STATUS_COMPLETE;
  }

  void flush() {
    ++seen_.flushed;
    for (auto& each : waiting_) {
      for (auto* const event : each.events) {
        must(aclrtSynchronizeEvent(event), "aclrtSynchronizeEvent");
      }
    }
    poll();
    // Its own stream may still use what lies here, and the device has that again only afterwards.
    must(aclrtSynchronizeDevice(), "aclrtSynchronizeDevice");
    for (auto& [key, cached] : free_) {
      for (void* const each : cached) must(aclrtFree(each), "aclrtFree");
      cached.clear();
    }
  }

  std::mutex guard_;
  std::map<void*, held> blocks_;
  std::map<std::pair<aclrtStream, std::size_t>, std::vector<void*>> free_;
  std::deque<waiting> waiting_;
  std::vector<aclrtEvent> spare_events_;
  counters seen_;
};
