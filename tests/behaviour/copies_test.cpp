// Copies in stream order and blocking ones: when they return (D1) and which they refuse (D3).

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <string>
#include <tuple>
#include <vector>

#include "tests/behaviour/side_thread.hpp"

namespace troupe {
namespace {

constexpr std::size_t count = 1024;

class copies : public stage_test {
protected:
  copies() : stage_test(patient_options()) {}

  buffer<int> on_device() { return ctx.allocate<int>(count, initial::cleared).value(); }

  std::vector<int> read(const buffer<int>& from) {
    std::vector<int> seen(from.size());
    EXPECT_THAT(ctx.copy(seen, from), IsOk());
    return seen;
  }

  signal hold = rt.create_signal();
};

// -- D1: when a copy returns --------------------------------------------------

TEST_F(copies, D1_pinned_source_is_read_when_the_copy_runs) {
  auto source = rt.allocate_host<int>(count).value();
  std::fill(source.begin(), source.end(), 1);
  auto target = on_device();
  ASSERT_THAT(s.wait(hold), IsOk());
  ASSERT_THAT(s.copy(target, source), IsOk());
  EXPECT_FALSE(s.query().value());
  std::fill(source.begin(), source.end(), 2);
  hold.raise();
  ASSERT_THAT(s.synchronize(), IsOk());
  EXPECT_EQ(read(target), std::vector<int>(count, 2));
}

TEST_F(copies, D1_pinned_target_is_written_when_the_copy_runs) {
  auto source = on_device();
  auto target = rt.allocate_host<int>(count).value();
  std::fill(target.begin(), target.end(), 7);
  ASSERT_THAT(s.wait(hold), IsOk());
  ASSERT_THAT(s.copy(target, source), IsOk());
  EXPECT_EQ(target[0], 7);
  hold.raise();
  ASSERT_THAT(s.synchronize(), IsOk());
  EXPECT_TRUE(std::all_of(target.begin(), target.end(), [](int each) { return each == 0; }));
}

TEST_F(copies, D1_copy_of_ordinary_memory_returns_only_when_it_has_run) {
  std::vector<int> source(count, 1);
  auto target = on_device();
  ASSERT_THAT(s.wait(hold), IsOk());
  side_thread copying([&] { return s.copy(target, source); });
  ASSERT_TRUE(copying.waits_for(s));
  EXPECT_EQ(read(target), std::vector<int>(count, 0)) << "it overtook the wait before it";
  hold.raise();
  ASSERT_THAT(copying.join(), IsOk());
  std::fill(source.begin(), source.end(), 2);
  ASSERT_THAT(s.synchronize(), IsOk());
  EXPECT_EQ(read(target), std::vector<int>(count, 1));
}

TEST_F(copies, D1_copy_to_ordinary_memory_returns_with_the_bytes_of_the_work_before_it) {
  LIVE_ONLY("its kernels wait for the test");
  auto source = on_device();
  std::vector<int> target(count, 7);
  gate door;
  const auto write = [&door](gsl::span<int> out) {
    door.pass();
    std::fill(out.begin(), out.end(), 3);
  };
  ASSERT_THAT(s.launch("write", write, source), IsOk());
  side_thread copying([&] { return s.copy(target, source); });
  EXPECT_TRUE(copying.waits_for(s));
  door.open();
  EXPECT_THAT(copying.join(), IsOk());
  EXPECT_EQ(target, std::vector<int>(count, 3)) << "without any further synchronise";
}

TEST_F(copies, D1_device_to_device_copy_returns_at_once) {
  auto source = on_device();
  auto target = on_device();
  ASSERT_THAT(s.wait(hold), IsOk());
  ASSERT_THAT(s.copy(target, source), IsOk());
  EXPECT_FALSE(s.query().value());
  hold.raise();
  EXPECT_THAT(s.synchronize(), IsOk());
}

TEST_F(copies, D1_copy_of_ordinary_memory_that_is_aborted_lets_its_caller_go) {
  std::vector<int> source(count, 1);
  auto target = on_device();
  ASSERT_THAT(s.wait(hold), IsOk());
  side_thread copying([&] { return s.copy(target, source); });
  ASSERT_TRUE(copying.waits_for(s));
  ASSERT_THAT(s.abort(), IsOk());
  EXPECT_THAT(copying.join(), HasCode(code::stream_abort));
  EXPECT_EQ(read(target), std::vector<int>(count, 0));
}

// The caller owns its memory again when the call returns, aborted or not: no engine is at it then.
TEST_F(copies, D1_aborted_copy_touches_ordinary_memory_no_more_once_it_has_returned) {
  constexpr std::size_t bytes = std::size_t{8} << 20;
  auto source = ctx.allocate<unsigned char>(bytes, initial::cleared).value();
  std::size_t late = 0;
  std::size_t false_success = 0;
  for (int round = 0; round < (simulated() ? 1 : 20); ++round) {
    std::vector<unsigned char> target(bytes, 1);
    side_thread copying([&] {
      auto outcome = s.copy(target, source);
      if (outcome.ok()) {
        false_success += bytes - static_cast<std::size_t>(
                                     std::count(target.begin(), target.end(), 0));
      }
      std::fill(target.begin(), target.end(), static_cast<unsigned char>(2));
      return outcome;
    });
    (void)copying.waits_for(s);
    ASSERT_THAT(s.abort(), IsOk());
    const auto outcome = copying.join();
    EXPECT_TRUE(outcome.ok() || outcome.code() == code::stream_abort) << outcome.describe();
    (void)s.synchronize();
    late += static_cast<std::size_t>(std::count(target.begin(), target.end(), 0));
  }
  EXPECT_EQ(false_success, 0U) << "bytes were missing when the call said that it had copied";
  EXPECT_EQ(late, 0U) << "bytes were written after the call had returned";
}

// -- D3: which copies are refused ---------------------------------------------

enum class location { host, pinned, device };

constexpr std::array all_locations{location::host, location::pinned, location::device};
constexpr std::array all_kinds{copy_kind::host_to_host, copy_kind::host_to_device,
                               copy_kind::device_to_host, copy_kind::device_to_device,
                               copy_kind::automatic};

copy_kind direction_of(location source, location target) {
  if (source == location::device) {
    return target == location::device ? copy_kind::device_to_device : copy_kind::device_to_host;
  }
  return target == location::device ? copy_kind::host_to_device : copy_kind::host_to_host;
}

// One range in each location, as source and as target, and raw copies between them.
class directions : public copies,
                   public ::testing::WithParamInterface<std::tuple<location, location, copy_kind>> {
protected:
  static constexpr std::size_t bytes = count * sizeof(int);

  copy_request request(std::size_t room = bytes) {
    const auto [source, target, kind] = GetParam();
    copy_request made;
    made.source = from.at(source);
    made.target = to.at(target);
    made.target_bytes = room;
    made.bytes = bytes;
    made.kind = kind;
    return made;
  }
  void fill_sources(int value) {
    std::fill(from.ordinary.begin(), from.ordinary.end(), value);
    std::fill(from.pinned.begin(), from.pinned.end(), value);
    ASSERT_THAT(ctx.copy(from.device, from.ordinary), IsOk());
  }
  // What the target holds now.
  std::vector<int> arrived() {
    if (std::get<1>(GetParam()) == location::device) return read(to.device);
    const auto* begin = static_cast<const int*>(to.at(std::get<1>(GetParam())));
    return std::vector<int>(begin, begin + count);
  }

  struct places {
    std::vector<int> ordinary;
    host_buffer<int> pinned;
    buffer<int> device;

    void* at(location where) {
      switch (where) {
        case location::host: return ordinary.data();
        case location::pinned: return pinned.data();
        case location::device: return device.data();
      }
      return nullptr;
    }
  };
  places make() {
    return {std::vector<int>(count, 0), rt.allocate_host<int>(count).value(), on_device()};
  }
  places from = make();
  places to = make();
};

INSTANTIATE_TEST_SUITE_P(all, directions,
                         ::testing::Combine(::testing::ValuesIn(all_locations),
                                            ::testing::ValuesIn(all_locations),
                                            ::testing::ValuesIn(all_kinds)));

TEST_P(directions, D3_blocking_copy_goes_by_the_addresses_whatever_the_kind_says) {
  fill_sources(5);
  ASSERT_THAT(ctx.copy_raw(request()), IsOk());
  EXPECT_EQ(arrived(), std::vector<int>(count, 5));
}

TEST_P(directions, D3_stream_copy_wants_a_kind_that_fits_the_addresses) {
  fill_sources(5);
  const auto [source, target, kind] = GetParam();
  const auto direction = direction_of(source, target);
  const auto before = s.counters().submitted;
  const auto outcome = s.copy_raw(request());
  if (direction != copy_kind::host_to_host && (kind == direction || kind == copy_kind::automatic)) {
    ASSERT_THAT(outcome, IsOk());
    ASSERT_THAT(s.synchronize(), IsOk());
    EXPECT_EQ(arrived(), std::vector<int>(count, 5));
    return;
  }
  EXPECT_THAT(outcome, HasCode(direction == copy_kind::host_to_host ? code::not_supported
                                                                    : code::invalid_parameter));
  EXPECT_EQ(s.counters().submitted, before) << "refused before anything is queued";
  EXPECT_THAT(s.synchronize(), IsOk());
  EXPECT_EQ(arrived(), std::vector<int>(count, 0));
}

TEST_P(directions, D3_both_calls_refuse_room_for_one_byte_less) {
  fill_sources(5);
  EXPECT_THAT(ctx.copy_raw(request(bytes - 1)), HasCode(code::invalid_parameter));
  EXPECT_THAT(s.copy_raw(request(bytes - 1)), HasCode(code::invalid_parameter));
  EXPECT_EQ(arrived(), std::vector<int>(count, 0));
}

TEST_P(directions, D3_null_is_refused_and_zero_bytes_succeed_before_any_other_check) {
  for (const bool null_target : {true, false}) {
    auto r = request();
    if (null_target) r.target = nullptr;
    if (!null_target) r.source = nullptr;
    EXPECT_THAT(ctx.copy_raw(r), HasCode(code::invalid_parameter));
    EXPECT_THAT(s.copy_raw(r), HasCode(code::invalid_parameter));
    r.bytes = 0;
    r.target_bytes = 0;
    EXPECT_THAT(ctx.copy_raw(r), IsOk());
    EXPECT_THAT(s.copy_raw(r), IsOk());
  }
  EXPECT_EQ(s.counters().submitted, 0U);
}

TEST_F(copies, D3_typed_copies_are_checked_for_room_as_well) {
  auto target = on_device();
  EXPECT_THAT(s.copy(target, std::vector<int>(count, 4)), IsOk());
  EXPECT_EQ(read(target), std::vector<int>(count, 4));
  EXPECT_THAT(s.copy(target, std::vector<int>(count + 1)), HasCode(code::invalid_parameter));
  EXPECT_THAT(ctx.copy(target, std::vector<int>(count + 1)), HasCode(code::invalid_parameter));
  EXPECT_THAT(s.copy(target, std::vector<int>{}), IsOk());
  EXPECT_THAT(ctx.copy(target, std::vector<int>{}), IsOk());
}

TEST_F(copies, D3_range_that_leaves_its_device_is_refused) {
  auto target = on_device();
  std::vector<int> source(count);
  copy_request r;
  r.target = target.data();
  r.source = source.data();
  r.bytes = r.target_bytes = std::size_t{1} << 30; // the test device has 256 MiB
  EXPECT_THAT(s.copy_raw(r), HasCode(code::invalid_parameter));
  EXPECT_THAT(ctx.copy_raw(r), SaysThat("of the memory of device 0 leaves the allocation of 4096 bytes"));
}

// -- counters -----------------------------------------------------------------

TEST_F(copies, blocking_copies_are_counted_on_the_engine_that_they_stand_in_for) {
  auto source = on_device();
  auto target = on_device();
  std::vector<int> host(count);
  const auto before = dev.counters();
  ASSERT_THAT(ctx.copy(target, host), IsOk());
  ASSERT_THAT(ctx.copy(host, target), IsOk());
  ASSERT_THAT(ctx.copy(host, target), IsOk());
  ASSERT_THAT(ctx.copy(target, source), IsOk());
  const auto after = dev.counters();
  EXPECT_EQ(after.dma_h2d.commands - before.dma_h2d.commands, 1U);
  EXPECT_EQ(after.dma_h2d.bytes - before.dma_h2d.bytes, count * sizeof(int));
  EXPECT_EQ(after.dma_d2h.commands - before.dma_d2h.commands, 2U);
  EXPECT_EQ(after.dma_d2h.bytes - before.dma_d2h.bytes, 2 * count * sizeof(int));
  EXPECT_EQ(after.dma_d2d.commands - before.dma_d2d.commands, 1U);
  EXPECT_EQ(after.dma_d2d.bytes - before.dma_d2d.bytes, count * sizeof(int));
}

} // namespace
} // namespace troupe
