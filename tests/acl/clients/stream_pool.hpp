#pragma once

#include <array>
#include <atomic>
#include <cstddef>

#include <acl/acl.h>

#include "tests/acl/clients/caching_allocator.hpp"

/// A client's streams: a few for all threads, dealt out in turn. Any thread of the context in which
/// the pool was made.
class stream_pool {
 public:
  stream_pool() {
    must(aclrtGetCurrentContext(&context_), "aclrtGetCurrentContext");
    for (auto& each : streams_) {
      must(aclrtCreateStreamWithConfig(&each, 0, ACL_STREAM_FAST_LAUNCH | ACL_STREAM_FAST_SYNC),
           "aclrtCreateStreamWithConfig");
    }
  }
  ~stream_pool() {
    for (auto* const each : streams_) (void)aclrtDestroyStream(each);
  }
  stream_pool(const stream_pool&) = delete;
  stream_pool& operator=(const stream_pool&) = delete;

  [[nodiscard]] aclrtStream next() { return streams_[turn_++ % streams_.size()]; }
  [[nodiscard]] aclrtContext context() const { return context_; }

 private:
  static constexpr std::size_t count = 8;

  aclrtContext context_ = nullptr;
  std::array<aclrtStream, count> streams_{};
  std::atomic<std::size_t> turn_ = 0;
};

/// Makes a stream the calling thread's own for as long as this lives, and the pool's context its
/// current one; afterwards both are what they were. Guards nest.
class stream_guard {
 public:
  stream_guard(stream_pool& pool, aclrtStream stream) : outer_stream_(current) {
    (void)aclrtGetCurrentContext(&outer_context_);  // null when there is none
    must(aclrtSetCurrentContext(pool.context()), "aclrtSetCurrentContext");
    current = stream;
  }
  ~stream_guard() {
    current = outer_stream_;
    if (outer_context_ != nullptr) (void)aclrtSetCurrentContext(outer_context_);
  }
  stream_guard(const stream_guard&) = delete;
  stream_guard& operator=(const stream_guard&) = delete;

  static inline thread_local aclrtStream current = nullptr;

 private:
  aclrtStream outer_stream_;
  aclrtContext outer_context_ = nullptr;
};
