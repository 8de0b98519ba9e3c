// What a framework does with the interface, hard: memory that is used again in stream order while
// streams use each other's, by threads that take their streams from a pool.

#include <array>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "tests/acl/acl_fixture.hpp"
#include "tests/acl/clients/caching_allocator.hpp"
#include "tests/acl/clients/stream_pool.hpp"

namespace {

// Blocks of one thread's program, each filled with a number of its own.
class program {
 public:
  program(stream_pool& streams, caching_allocator& memory, std::uint64_t seed)
      : streams_(streams), memory_(memory), draw_(seed) {
    must(aclrtCreateEventExWithFlag(&ready_, ACL_EVENT_SYNC), "aclrtCreateEventExWithFlag");
    must(aclrtMallocHost(&pinned_, bytes_max), "aclrtMallocHost");
  }
  ~program() {
    (void)aclrtDestroyEvent(ready_);
    (void)aclrtFreeHost(pinned_);
  }
  program(const program&) = delete;
  program& operator=(const program&) = delete;

  void run(int rounds) {
    for (int i = 0; i < rounds; ++i) round(static_cast<unsigned char>(1 + i % 250));
  }

 private:
  static constexpr std::size_t bytes_max = 64 << 10;

  std::uint64_t next(std::uint64_t below) {
    draw_ = draw_ * 6364136223846793005ULL + 1442695040888963407ULL;
    return (draw_ >> 33) % below;
  }

  // One stream fills a block, another copies it to a block of its own and back to the host: the
  // number must still be in it, though the first block was freed as soon as that was submitted.
  void round(unsigned char number) {
    const auto bytes = 64 + next(bytes_max - 64);
    auto* const writer = streams_.next();
    auto* const reader = streams_.next();
    const stream_guard outer(streams_, writer);
    void* const made = memory_.allocate(bytes, writer);
    must(aclrtMemsetAsync(made, bytes, number, bytes, stream_guard::current), "aclrtMemsetAsync");
    must(aclrtRecordEvent(ready_, writer), "aclrtRecordEvent");
    {
      const stream_guard inner(streams_, reader);
      void* const copy = memory_.allocate(bytes, reader);
      must(aclrtStreamWaitEvent(reader, ready_), "aclrtStreamWaitEvent");
      must(aclrtMemcpyAsync(copy, bytes, made, bytes, ACL_MEMCPY_DEVICE_TO_DEVICE, reader),
           "aclrtMemcpyAsync");
      memory_.record_stream(made, reader);
      memory_.free(made);
      // A block that takes its place in the writer's order must not reach the reader's copy.
      void* const other = memory_.allocate(bytes, writer);
      must(aclrtMemsetAsync(other, bytes, 255, bytes, writer), "aclrtMemsetAsync");
      memory_.free(other);
      must(aclrtMemcpyAsync(pinned_, bytes, copy, bytes, ACL_MEMCPY_DEVICE_TO_HOST,
                            stream_guard::current),
           "aclrtMemcpyAsync");
      memory_.free(copy);
      must(aclrtSynchronizeStream(reader), "aclrtSynchronizeStream");
    }
    if (stream_guard::current != writer) throw std::runtime_error("the guard lost its stream");
    const auto* const seen = static_cast<const unsigned char*>(pinned_);
    for (const auto at : {std::size_t{0}, bytes / 2, bytes - 1}) {
      if (seen[at] == number) continue;
      throw std::runtime_error("byte " + std::to_string(at) + " is " + std::to_string(seen[at]) +
                               ", not " + std::to_string(number));
    }
  }

  stream_pool& streams_;
  caching_allocator& memory_;
  std::uint64_t draw_;
  aclrtEvent ready_ = nullptr;
  void* pinned_ = nullptr;
};

// What went wrong in any of four threads, or an empty text.
std::string run_threads(stream_pool& streams, caching_allocator& memory, int rounds) {
  std::array<std::string, 4> wrong;
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < wrong.size(); ++i) {
    threads.emplace_back([&, i] {
      try {
        must(aclrtSetCurrentContext(streams.context()), "aclrtSetCurrentContext");
        program(streams, memory, i + 1).run(rounds);
      } catch (const std::exception& e) {
        wrong[i] = e.what();
      }
    });
  }
  for (auto& each : threads)
    each.join();
  for (const auto& each : wrong) {
    if (!each.empty()) return each;
  }
  return {};
}

using acl_framework = acl_test;

TEST_F(acl_framework, E2_blocks_are_used_again_in_stream_order_and_never_too_early) {
  std::size_t before = 0;
  std::size_t after = 0;
  std::size_t total = 0;
  ASSERT_EQ(aclrtGetMemInfo(ACL_HBM_MEM, &before, &total), ACL_SUCCESS);
  {
    stream_pool streams;
    caching_allocator memory;
    EXPECT_EQ(run_threads(streams, memory, 300), "");
    const auto seen = memory.seen();
    EXPECT_GT(seen.reused, 100U);
    EXPECT_GT(seen.polled, 100U);
    ASSERT_EQ(aclrtSynchronizeDevice(), ACL_SUCCESS);
  }
  ASSERT_EQ(aclrtGetMemInfo(ACL_HBM_MEM, &after, &total), ACL_SUCCESS);
  EXPECT_EQ(after, before);
}

TEST_F(acl_framework, a_guard_gives_back_what_it_found) {
  stream_pool streams;
  std::thread([&] {
    aclrtContext seen = nullptr;
    {
      const stream_guard only(streams, streams.next());
      EXPECT_EQ(aclrtGetCurrentContext(&seen), ACL_SUCCESS);
      EXPECT_EQ(seen, streams.context());
    }
    EXPECT_EQ(stream_guard::current, nullptr);
    aclrtContext own = nullptr;
    ASSERT_EQ(aclrtCreateContext(&own, 1), ACL_SUCCESS);
    {
      const stream_guard only(streams, streams.next());
      EXPECT_EQ(aclrtSynchronizeStream(stream_guard::current), ACL_SUCCESS);
    }
    EXPECT_EQ(aclrtGetCurrentContext(&seen), ACL_SUCCESS);
    EXPECT_EQ(seen, own);
    EXPECT_EQ(aclrtDestroyContext(own), ACL_SUCCESS);
  }).join();
}

}  // namespace
