// Mapped memory under every single fault: the right bytes or a truthful code, and nothing left
// behind, which the accounts of a run look at.

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/support/sanitizers.hpp"
#include "troupe/exploring.hpp"
#include "troupe/troupe.hpp"

namespace troupe {
namespace {

constexpr auto unit = device::mapping_granularity;
constexpr std::size_t count = 4096;
constexpr timeout patience(1000);

// Writes through one mapping of a memory and reads through the other. What fails ends the job.
status work(testing::stage& play, std::vector<char>& seen) {
  const auto dev = play.runtime().device(0);
  if (!dev) return dev.error();
  const auto ctx = dev.value().create_context();
  if (!ctx) return ctx.error();
  auto s = ctx.value().create_stream();
  if (!s) return s.error();
  const auto range = dev.value().reserve(2 * unit);
  if (!range) return range.error();
  const auto memory = dev.value().create_physical(unit);
  if (!memory) return memory.error();
  const auto& to = range.value();
  for (const auto at : {std::size_t{0}, unit}) {
    if (auto done = to.map(at, memory.value()); !done.ok()) return done;
  }
  if (auto done = to.set_access(mapped_access::read_write, ctx.value()); !done.ok()) return done;
  const auto low = to.view<char>(ctx.value(), 0, count).value();
  const auto high = to.view<char>(ctx.value(), unit, count).value();
  const auto add = [](gsl::span<char> a) {
    for (auto& each : a) ++each;
  };
  if (auto done = s.value().fill_bytes(low, 6); !done.ok()) return done;
  if (auto done = s.value().launch("add", add, high); !done.ok()) return done;
  if (auto done = s.value().synchronize(patience); !done.ok()) return done;
  if (auto done = ctx.value().copy(seen, low); !done.ok()) return done;
  return to.unmap(0);
}

void job(testing::stage& play) {
  std::vector<char> seen(count);
  if (work(play, seen).ok()) play.observe("bytes", std::span<const char>(seen));
}

testing::simulation_options one_small_device() {
  testing::simulation_options made;
  made.runtime.devices.resize(1);
  made.runtime.devices[0].memory_bytes = std::uint64_t{64} << 20;
  return made;
}

TEST(mapped_sweep, passes_without_a_fault) {
  bool right = false;
  const auto report = testing::simulate(one_small_device(), [&](testing::stage& play) {
    std::vector<char> seen(count);
    right = work(play, seen).ok() && seen == std::vector<char>(count, 7);
  });
  EXPECT_FALSE(report.hang) << *report.hang;
  EXPECT_TRUE(right);
}

TEST(mapped_sweep, L12_every_single_fault_ends_in_the_truth) {
  const auto result = testing::sweep(one_small_device(), &job, nullptr,
                                     testing::all_fault_classes(), sanitized ? 41 : 1);
  EXPECT_TRUE(result.findings.empty()) << result.describe();
  EXPECT_GT(result.faults, 0U);
}

} // namespace
} // namespace troupe
