// Every form of copy, registered host memory, temporary blocks and a pool whose blocks follow events,
// under every single fault: the right bytes or a truthful code, and nothing left behind, which the
// accounts of a run look at. In checked mode as well, which finds nothing wrong with it.

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/support/sanitizers.hpp"
#include "tests/support/simulated.hpp"
#include "troupe/exploring.hpp"
#include "troupe/troupe.hpp"

namespace troupe {
namespace {

constexpr std::size_t side = 32;
constexpr std::size_t count = side * side;
constexpr timeout patience(1000);

// The first failure of several calls, after which nothing more is done.
class steps {
public:
  [[nodiscard]] bool ok() const { return failed_.ok(); }
  void operator()(status s) {
    if (failed_.ok()) failed_ = std::move(s);
  }
  template <class T>
  T take(result<T> got) {
    if (got) return std::move(got).value();
    (*this)(got.error());
    return {};
  }
  [[nodiscard]] const status& outcome() const { return failed_; }

private:
  status failed_;
};

copy_2d_request half_of_rows(float* target, const float* source) {
  copy_2d_request made;
  made.target = target;
  made.source = source;
  made.width = side / 2 * sizeof(float);
  made.height = side;
  made.target_pitch = made.source_pitch = side * sizeof(float);
  return made;
}

// Numbers go to the device by rows, from there in pieces, through halves and a temporary block, and
// come back to registered memory.
status work(const context& ctx, const runtime& rt, std::vector<float>& seen) {
  steps done;
  auto s = done.take(ctx.create_stream());
  auto other = done.take(ctx.create_stream());
  const auto event = done.take(ctx.create_event());
  const auto pool = done.take(ctx.create_pool());
  const auto rows = done.take(ctx.allocate<float>(count, initial::cleared));
  const auto halves = done.take(ctx.allocate<half>(count));
  const auto scratch = done.take(ctx.allocate_temporary<float>(count));
  std::vector<float> host(count, 2);
  if (!done.ok()) return done.outcome();
  {
    const auto from = done.take(rt.register_host(gsl::span<float>(host)));
    const auto to = done.take(rt.register_host(gsl::span<float>(seen)));
    auto piece = done.take(pool.allocate<float>(s, count));
    if (!done.ok()) return done.outcome();
    done(s.copy_2d(half_of_rows(rows.data(), host.data())));
    const std::vector<copy_entry> list{
        make_copy_entry(piece.span().subspan(0, count / 2), rows.span().subspan(0, count / 2)),
        make_copy_entry(piece.span().subspan(count / 2), rows.span().subspan(count / 2))};
    done(s.copy_batch({.entries = list}));
    done(s.convert(halves, piece));
    piece = {};
    done(s.record(event));
    done(other.wait(event));
    if (!done.ok()) return done.outcome(); // else they are in no order
    const auto next = done.take(pool.allocate<float>(other, count));
    if (!done.ok()) return done.outcome();
    done(other.fill(next, 1.5F));
    done(other.convert(scratch, halves));
    done(other.launch("add", [](gsl::span<float> all, gsl::span<const float> more) {
      for (std::size_t i = 0; i < all.size(); ++i) all[i] += more[i];
    }, scratch, next));
    done(other.copy(seen, scratch));
    const auto ended = ctx.synchronize(patience);
    done(ended);
    if (!ended.ok()) (void)ctx.destroy(); // nothing is read or written any more
  }
  return done.outcome();
}

void job(testing::stage& play) {
  std::vector<float> seen(count);
  const auto dev = play.runtime().device(0);
  const auto ctx = dev ? dev.value().create_context() : result<context>(dev.error());
  if (ctx && work(ctx.value(), play.runtime(), seen).ok()) {
    play.observe("numbers", std::span<const float>(seen));
  }
}

testing::simulation_options small_device(unsigned checked) {
  testing::simulation_options made;
  made.runtime.devices.resize(1);
  made.runtime.devices[0].memory_bytes = std::uint64_t{64} << 20;
  made.runtime.checked_memory = checked;
  return made;
}

TEST(copies_sweep, passes_without_a_fault_and_with_nothing_to_report) {
  for (const unsigned checked : {0U, 1U}) {
    const auto report = play_out(small_device(checked), [](testing::stage& play) {
      std::vector<float> seen(count);
      const auto ctx = make_context(play);
      const auto outcome = work(ctx, play.runtime(), seen);
      EXPECT_TRUE(outcome.ok()) << outcome.message();
      for (std::size_t i = 0; i < count; ++i) {
        ASSERT_EQ(seen[i], i % side < side / 2 ? 3.5F : 1.5F) << i;
      }
      for (const auto& each : play.runtime().diagnostics()) ADD_FAILURE() << each.message;
    });
  }
}

TEST(copies_sweep, L12_every_single_fault_ends_in_the_truth) {
  for (const unsigned checked : {0U, 1U}) {
    const auto result = testing::sweep(small_device(checked), &job, nullptr,
                                       testing::all_fault_classes(), sanitized ? 41 : 1 + checked);
    EXPECT_TRUE(result.findings.empty()) << result.describe();
    EXPECT_GT(result.faults, 0U);
  }
}

} // namespace
} // namespace troupe
