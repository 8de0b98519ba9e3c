#include "core/kernel_registry.hpp"

#include <span>
#include <thread>
#include <vector>

#include <gmock/gmock.h>

#include "core/device_span.hpp"
#include "tests/support/status_matchers.hpp"

namespace troupe {
namespace {

kernel_entry scale_entry() {
  return make_kernel_entry("scale", [](std::span<const float> in, std::span<float> out, int by) {
    for (std::size_t i = 0; i < in.size(); ++i) out[i] = in[i] * static_cast<float>(by);
  });
}

class kernel_registry_test : public ::testing::Test {
protected:
  kernel_registry_test() { registry.add(scale_entry()).or_throw(); }

  template <class... Args>
  status launch(const Args&... args) {
    return make_named_command(task("scale"), registry.find("scale").value(), args...).error();
  }

  kernel_registry registry;
  std::vector<float> memory = std::vector<float>(8, 3.0F);
  device_span<float> writable{memory.data(), 4, 1};
  device_span<const float> readable{memory.data() + 4, 4, 1};
};

TEST_F(kernel_registry_test, refuses_empty_and_taken_names) {
  auto nameless = scale_entry();
  nameless.name.clear();
  EXPECT_THAT(registry.add(nameless), HasCode(code::invalid_parameter));
  const auto again = registry.add(scale_entry());
  EXPECT_THAT(again, HasCode(code::kernel_duplicate));
  EXPECT_THAT(again, SaysThat("'scale'"));
}

TEST_F(kernel_registry_test, names_what_it_does_not_find) {
  const auto missing = registry.find("scael");
  EXPECT_THAT(missing, HasCode(code::kernel_lookup));
  EXPECT_THAT(missing, SaysThat("'scael'"));
}

TEST_F(kernel_registry_test, runs_with_fitting_arguments) {
  auto made =
      make_named_command({"scale", 2}, registry.find("scale").value(), readable, writable, 5);
  ASSERT_THAT(made, IsOk());
  auto& c = made.value();
  EXPECT_EQ(c.blocks, 2U);
  EXPECT_THAT(c.op->invoke(c.payload(), block{}), IsOk());
  EXPECT_EQ(memory[3], 15.0F);
  EXPECT_EQ(memory[4], 3.0F);
}

TEST_F(kernel_registry_test, declares_the_ranges_as_the_kernel_takes_them) {
  // The first argument may be written, but the kernel only reads it.
  auto made =
      make_named_command(task("scale"), registry.find("scale").value(), writable, writable, 5);
  ASSERT_THAT(made, IsOk());
  std::vector<access_range> seen;
  made.value().op->ranges(made.value().payload(),
                          {[](void* self, const access_range& range) {
                             static_cast<std::vector<access_range>*>(self)->push_back(range);
                           },
                           &seen});
  ASSERT_EQ(seen.size(), 2U);
  EXPECT_EQ(seen[0].mode, access_mode::read);
  EXPECT_EQ(seen[1].mode, access_mode::write);
  EXPECT_EQ(seen[1].bytes, 4 * sizeof(float));
}

TEST_F(kernel_registry_test, refuses_another_number_of_arguments) {
  const auto refused = launch(readable, writable);
  EXPECT_THAT(refused, HasCode(code::invalid_parameter));
  EXPECT_THAT(refused, SaysThat("takes 3 arguments, not 2"));
}

TEST_F(kernel_registry_test, refuses_read_only_memory_where_it_would_write) {
  const auto refused = launch(readable, readable, 5);
  EXPECT_THAT(refused, HasCode(code::invalid_parameter));
  EXPECT_THAT(refused, SaysThat("argument 2 of kernel 'scale' is a span<float>, "
                                "not a span<const float>"));
}

TEST_F(kernel_registry_test, refuses_other_element_and_value_types) {
  std::vector<int> integers(4);
  const device_span<int> wrong(integers.data(), 4, 1);
  EXPECT_THAT(launch(wrong, writable, 5), SaysThat("argument 1"));
  EXPECT_THAT(launch(readable, writable, 5.0), SaysThat("is a int, not a double"));
  EXPECT_THAT(launch(readable, writable, writable), SaysThat("argument 3"));
  EXPECT_THAT(launch(5, writable, 5), SaysThat("argument 1"));
}

TEST_F(kernel_registry_test, serves_many_threads) {
  std::vector<std::thread> threads;
  std::atomic<int> added = 0;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 50; ++i) {
        auto entry = scale_entry();
        entry.name = "kernel " + std::to_string(i);
        if (registry.add(std::move(entry)).ok()) ++added;
        EXPECT_THAT(registry.find("kernel " + std::to_string(i)), IsOk());
      }
    });
  }
  for (auto& each : threads) each.join();
  EXPECT_EQ(added, 50);
}

} // namespace
} // namespace troupe
