// The framework's allocator where the device's memory is small: what is cached goes back to it.

#include "tests/acl/clients/caching_allocator.hpp"
#include "tests/acl/init/in_child.hpp"

namespace {

TEST(acl_framework, E7_a_cache_is_given_back_when_the_device_has_no_memory_left) {
  const file config(
      R"({"troupe": {"devices": [{"name": "Small", "memory_bytes": 4194304}]}})");
  EXPECT_EQ(in_child([&] {
              must(aclInit(config.path.c_str()), "aclInit");
              must(aclrtSetDevice(0), "aclrtSetDevice");
              aclrtStream one = nullptr;
              aclrtStream two = nullptr;
              must(aclrtCreateStream(&one), "aclrtCreateStream");
              must(aclrtCreateStream(&two), "aclrtCreateStream");
              caching_allocator memory;
              for (int i = 0; i < 50; ++i) {
                auto* const stream = i % 2 == 0 ? one : two;
                const auto bytes = (std::size_t{256} + static_cast<unsigned>(i / 4 % 7)) << 12;
                void* const block = memory.allocate(bytes, stream);
                must(aclrtMemsetAsync(block, 1 << 20, i, 1 << 20, stream), "aclrtMemsetAsync");
                memory.record_stream(block, one);
                memory.free(block);
              }
              must(aclrtSynchronizeDevice(), "aclrtSynchronizeDevice");
              const auto seen = memory.seen();
              return seen.flushed > 0 && seen.reused > 0 ? 0 : 1;
            }),
            0);
}

}  // namespace
