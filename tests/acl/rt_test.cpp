// The samples of the interface's introduction, with bodies for what they leave open.

#include <cstdlib>
#include <numeric>
#include <vector>

#include <gtest/gtest.h>
#include <rt.h>

namespace {

struct scale_args {
  float* data;
  std::size_t count;
  float factor;
};

void scale(uint32_t block, uint32_t blocks, void* raw) {
  const auto& args = *static_cast<const scale_args*>(raw);
  for (std::size_t i = block; i < args.count; i += blocks)
    args.data[i] *= args.factor;
}

TEST(rt_samples, four_streams_work_side_by_side_and_an_event_orders_two) {
  constexpr std::size_t count = 1024;
  std::vector<float> host(count, 3);
  void* device = nullptr;
  ASSERT_EQ(rtMalloc(&device, count * sizeof(float), RT_MEMALLOC_DEFAULT), 0);
  ASSERT_EQ(rtMemcpy(device, host.data(), count * sizeof(float), RT_MEMCPY_HOST_TO_DEVICE), 0);
  rtStream_t streams[4];
  for (auto& each : streams)
    ASSERT_EQ(rtStreamCreate(&each, 0), 0);
  scale_args args{static_cast<float*>(device), count, 2};
  rtEvent_t event = nullptr;
  ASSERT_EQ(rtEventCreate(&event), 0);
  ASSERT_EQ(rtKernelLaunch(&scale, streams[0], &args, sizeof(args), nullptr), 0);
  ASSERT_EQ(rtEventRecord(event, streams[0]), 0);
  ASSERT_EQ(rtStreamWaitEvent(streams[1], event), 0);
  args.factor = 5;
  ASSERT_EQ(rtKernelLaunch(&scale, streams[1], &args, sizeof(args), nullptr), 0);
  ASSERT_EQ(rtMemcpyAsync(host.data(), device, count * sizeof(float), RT_MEMCPY_DEVICE_TO_HOST,
                          streams[1]),
            0);
  ASSERT_EQ(rtStreamSynchronize(streams[1]), 0);
  EXPECT_EQ(host, std::vector<float>(count, 30));
  for (auto* each : streams)
    EXPECT_EQ(rtStreamDestroy(each), 0);
  EXPECT_EQ(rtEventDestroy(event), 0);
  EXPECT_EQ(rtFree(device), 0);
}

TEST(rt_samples, a_pool_divides_the_block_that_the_user_took) {
  void* pool = nullptr;
  constexpr std::size_t pool_sz = std::size_t{1} << 20;
  ASSERT_EQ(rtMalloc(&pool, pool_sz, RT_MEMALLOC_DEFAULT), 0);
  void* first = nullptr;
  void* second = nullptr;
  ASSERT_EQ(mem_pool_alloc(pool, pool_sz, &first, 1000), 0);
  ASSERT_EQ(mem_pool_alloc(pool, pool_sz, &second, 1000), 0);
  EXPECT_NE(first, second);
  EXPECT_EQ(rtMemcpy(second, std::vector<char>(1000).data(), 1000, RT_MEMCPY_HOST_TO_DEVICE), 0);
  void* none = nullptr;
  EXPECT_EQ(mem_pool_alloc(pool, pool_sz, &none, pool_sz), 207001);
  EXPECT_EQ(mem_pool_alloc(pool, pool_sz / 2, &none, 10), 107000);
  EXPECT_EQ(mem_pool_free(pool, static_cast<char*>(first) + 8), 107000);
  EXPECT_EQ(mem_pool_free(pool, first), 0);
  EXPECT_EQ(mem_pool_free(pool, first), 107000);
  EXPECT_EQ(mem_pool_alloc(pool, pool_sz, &none, 1000), 0);
  EXPECT_EQ(none, first);
  EXPECT_EQ(mem_pool_free(pool, none), 0);
  EXPECT_EQ(mem_pool_free(pool, second), 0);
  EXPECT_EQ(rtFree(pool), 0);
}

TEST(rt_samples, bad_arguments_have_codes) {
  EXPECT_EQ(rtMalloc(nullptr, 1, RT_MEMALLOC_DEFAULT), 100000);
  EXPECT_EQ(rtKernelLaunch(nullptr, nullptr, nullptr, 0, nullptr), 100000);
  EXPECT_EQ(mem_pool_free(nullptr, nullptr), 100000);
  EXPECT_EQ(rtFree(nullptr), 100000);
}

}  // namespace
