// Copies that are more than one range to another: in rows, in batches, converted; and fills by
// pattern. They follow the rules of plain copies (D1, D3, D5).

#include <algorithm>
#include <array>
#include <cstddef>
#include <numeric>
#include <string>
#include <vector>

#include "tests/behaviour/side_thread.hpp"

namespace troupe {
namespace {

using bytes = std::vector<unsigned char>;

class copy_forms : public stage_test {
protected:
  copy_forms() : stage_test(patient_options()) {}

  static bytes counting(std::size_t count) {
    bytes made(count);
    for (std::size_t i = 0; i < count; ++i) made[i] = static_cast<unsigned char>(i * 131 >> 3);
    return made;
  }
  buffer<unsigned char> on_device(const bytes& contents) {
    auto made = ctx.allocate<unsigned char>(contents.size()).value();
    EXPECT_THAT(ctx.copy(made, contents), IsOk());
    return made;
  }
  bytes read(const buffer<unsigned char>& from) {
    bytes seen(from.size());
    EXPECT_THAT(ctx.copy(seen, from), IsOk());
    return seen;
  }
  host_buffer<unsigned char> pinned(const bytes& contents) {
    auto made = rt.allocate_host<unsigned char>(contents.size()).value();
    std::copy(contents.begin(), contents.end(), made.begin());
    return made;
  }
  // By the calling thread, then by the stream.
  template <class Request, class Judge>
  void both_ways(status (context::*now)(const Request&) const,
                 status (stream::*later)(const Request&), const Request& request, Judge judge) {
    EXPECT_THAT((ctx.*now)(request), IsOk());
    judge();
    EXPECT_THAT((s.*later)(request), IsOk());
    EXPECT_THAT(s.synchronize(), IsOk());
    judge();
  }
  template <class Request>
  void both_refuse(status (context::*now)(const Request&) const,
                   status (stream::*later)(const Request&), const Request& request,
                   const std::string& why) {
    const auto before = s.counters().submitted;
    EXPECT_THAT((ctx.*now)(request), HasCode(code::invalid_parameter));
    EXPECT_THAT((s.*later)(request), HasCode(code::invalid_parameter));
    EXPECT_THAT((ctx.*now)(request), SaysThat(why));
    EXPECT_THAT((s.*later)(request), SaysThat(why));
    EXPECT_EQ(s.counters().submitted, before);
  }

  signal hold = rt.create_signal();
};

// -- rows -----------------------------------------------------------------------

copy_2d_request rows(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
                     std::size_t width, std::size_t height) {
  copy_2d_request made;
  made.target = to;
  made.target_pitch = to_pitch;
  made.source = from;
  made.source_pitch = from_pitch;
  made.width = width;
  made.height = height;
  return made;
}

TEST_F(copy_forms, D5_rows_arrive_and_nothing_between_them_is_touched) {
  const auto source = counting(10 * 50);
  auto target = on_device(bytes(20 * 50, 1));
  auto wanted = bytes(20 * 50, 1);
  for (std::size_t row = 0; row < 50; ++row) {
    std::copy_n(source.begin() + static_cast<std::ptrdiff_t>(row * 10), 7,
                wanted.begin() + static_cast<std::ptrdiff_t>(row * 20));
  }
  both_ways(&context::copy_2d, &stream::copy_2d,
            rows(target.data(), 20, source.data(), 10, 7, 50), [&] {
              EXPECT_EQ(read(target), wanted);
              EXPECT_THAT(ctx.copy(target, bytes(20 * 50, 1)), IsOk());
            });
}

TEST_F(copy_forms, D5_rows_may_have_gaps_on_one_side_only) {
  const auto source = counting(20 * 50);
  auto packed = on_device(bytes(10 * 50, 0));
  bytes wanted(10 * 50);
  for (std::size_t i = 0; i < wanted.size(); ++i) wanted[i] = source[i / 10 * 20 + i % 10];
  both_ways(&context::copy_2d, &stream::copy_2d,
            rows(packed.data(), 10, source.data(), 20, 10, 50), [&] {
              EXPECT_EQ(read(packed), wanted);
              EXPECT_THAT(ctx.copy(packed, bytes(10 * 50, 0)), IsOk());
            });
  auto spread = on_device(bytes(20 * 50, 1));
  EXPECT_THAT(s.copy_2d(rows(spread.data(), 20, wanted.data(), 10, 10, 50)), IsOk());
  const auto seen = read(spread);
  for (std::size_t i = 0; i < seen.size(); ++i) {
    ASSERT_EQ(seen[i], i % 20 < 10 ? source[i] : 1) << i;
  }
}

TEST_F(copy_forms, D5_rows_of_one_pitch_may_overlap) {
  for (const std::ptrdiff_t shift : {-33, -1, 1, 7, 33}) {
    auto wanted = counting(64 * 16);
    auto target = on_device(wanted);
    const auto before = wanted;
    for (std::ptrdiff_t row = 2; row < 12; ++row) {
      std::copy_n(before.begin() + row * 64, 20, wanted.begin() + row * 64 + shift);
    }
    auto* from = target.data() + 2 * 64;
    EXPECT_THAT(s.copy_2d(rows(from + shift, 64, from, 64, 20, 10)), IsOk());
    EXPECT_THAT(s.synchronize(), IsOk());
    EXPECT_EQ(read(target), wanted) << shift;
  }
  auto target = on_device(counting(1'000));
  both_refuse(&context::copy_2d, &stream::copy_2d,
              rows(target.data() + 5, 10, target.data(), 12, 8, 20), "different pitch overlap");
}

TEST_F(copy_forms, rows_without_gaps_are_one_copy_and_a_command_whatever_they_are) {
  const auto source = pinned(counting(8'000));
  auto target = on_device(bytes(8'000, 0));
  const auto before = dev.counters().dma_h2d;
  EXPECT_THAT(s.copy_2d(rows(target.data(), 80, source.data(), 80, 80, 100)), IsOk());
  EXPECT_THAT(s.copy_2d(rows(target.data(), 80, source.data(), 80, 40, 100)), IsOk());
  EXPECT_THAT(s.synchronize(), IsOk());
  EXPECT_THAT(ctx.copy_2d(rows(target.data(), 80, source.data(), 80, 40, 100)), IsOk());
  EXPECT_EQ(read(target), counting(8'000));
  const auto after = dev.counters().dma_h2d;
  EXPECT_EQ(after.commands - before.commands, 3U);
  EXPECT_EQ(after.bytes - before.bytes, 16'000U);
}

TEST_F(copy_forms, D3_rows_are_checked_before_anything_is_queued) {
  const auto source = counting(1'000);
  auto target = on_device(bytes(1'000, 9));
  const auto refuse = [&](const copy_2d_request& r, const char* why) {
    both_refuse(&context::copy_2d, &stream::copy_2d, r, why);
  };
  refuse(rows(target.data(), 9, source.data(), 10, 10, 5),
         "the target pitch of 9 bytes is less than the width of 10");
  refuse(rows(target.data(), 10, source.data(), 3, 10, 5), "the source pitch of 3 bytes");
  refuse(rows(target.data(), SIZE_MAX, source.data(), 10, 10, 5), "fit no address space");
  refuse(rows(target.data(), 100, source.data(), 10, 10, 11), "leaves the allocation of 1000");
  refuse(rows(nullptr, 10, source.data(), 10, 10, 5), "the target");
  EXPECT_THAT(s.copy_2d(rows(target.data(), 110, source.data(), 10, 10, 10)), IsOk())
      << "behind the last row there need not be room for a pitch";
  auto wrong = rows(target.data(), 10, source.data(), 10, 5, 5);
  wrong.kind = copy_kind::device_to_host;
  EXPECT_THAT(s.copy_2d(wrong), HasCode(code::invalid_parameter));
  EXPECT_THAT(ctx.copy_2d(wrong), IsOk()) << "the blocking form ignores the kind";
  bytes host(100);
  EXPECT_THAT(s.copy_2d(rows(host.data(), 10, source.data(), 10, 5, 5)),
              HasCode(code::not_supported));
  EXPECT_THAT(ctx.copy_2d(rows(host.data(), 10, source.data(), 10, 5, 5)), IsOk());
  EXPECT_THAT(s.copy_2d(rows(nullptr, 0, nullptr, 0, 0, 5)), IsOk());
  EXPECT_THAT(ctx.copy_2d(rows(nullptr, 0, nullptr, 0, 5, 0)), IsOk());
}

TEST_F(copy_forms, D1_rows_of_ordinary_memory_are_waited_for_and_pinned_ones_are_not) {
  auto source = pinned(bytes(1'000, 1));
  auto target = on_device(bytes(1'000, 0));
  ASSERT_THAT(s.wait(hold), IsOk());
  ASSERT_THAT(s.copy_2d(rows(target.data(), 20, source.data(), 20, 10, 50)), IsOk());
  EXPECT_FALSE(s.query().value());
  std::fill(source.begin(), source.end(), static_cast<unsigned char>(2));
  bytes ordinary(1'000);
  side_thread copying(
      [&] { return s.copy_2d(rows(ordinary.data(), 20, target.data(), 20, 10, 50)); });
  ASSERT_TRUE(copying.waits_for(s));
  hold.raise();
  EXPECT_THAT(copying.join(), IsOk());
  EXPECT_EQ(ordinary[0], 2);
  EXPECT_EQ(ordinary[989], 2);
  EXPECT_EQ(ordinary[10], 0);
}

// -- batches --------------------------------------------------------------------

TEST_F(copy_forms, a_batch_is_one_command_and_copies_each_entry) {
  constexpr std::size_t count = 300;
  constexpr std::size_t size = 50;
  const auto source = pinned(counting(count * size));
  auto target = on_device(bytes(count * size, 0));
  std::vector<copy_entry> entries;
  for (std::size_t i = 0; i < count; ++i) { // the last first
    const auto at = (count - 1 - i) * size;
    entries.push_back({target.data() + at, source.data() + at, size});
    entries.push_back({nullptr, nullptr, 0});
  }
  const auto before = dev.counters().dma_h2d;
  both_ways(&context::copy_batch, &stream::copy_batch,
            copy_batch_request{entries, copy_kind::host_to_device, {}}, [&] {
              EXPECT_EQ(read(target), counting(count * size));
              EXPECT_THAT(ctx.fill(target, static_cast<unsigned char>(0)), IsOk());
            });
  const auto after = dev.counters().dma_h2d;
  EXPECT_EQ(after.commands - before.commands, 2U);
  EXPECT_EQ(after.bytes - before.bytes, 2 * count * size);
}

TEST_F(copy_forms, a_batch_keeps_its_entries_and_runs_them_in_order) {
  auto source = pinned(bytes(100, 5));
  auto target = on_device(bytes(100, 0));
  ASSERT_THAT(s.wait(hold), IsOk());
  {
    std::vector<copy_entry> entries{{target.data(), source.data(), 100},
                                    {target.data(), source.data() + 99, 1}};
    ASSERT_THAT(s.copy_batch({entries, copy_kind::automatic, {}}), IsOk());
    std::fill(entries.begin(), entries.end(), copy_entry{});
  }
  source[99] = 8;
  hold.raise();
  ASSERT_THAT(s.synchronize(), IsOk());
  auto wanted = bytes(100, 5);
  wanted[0] = wanted[99] = 8;
  EXPECT_EQ(read(target), wanted);
}

TEST_F(copy_forms, D3_a_batch_names_its_first_bad_entry_and_does_nothing) {
  const auto source = counting(100);
  auto target = on_device(bytes(100, 1));
  bytes host(100);
  const auto with = [&](const copy_entry& bad, const std::string& why) {
    const std::vector<copy_entry> entries{{target.data(), source.data(), 10},
                                          {target.data() + 20, source.data(), 10},
                                          bad,
                                          {nullptr, nullptr, 1}};
    both_refuse(&context::copy_batch, &stream::copy_batch,
                copy_batch_request{entries, copy_kind::automatic, {}},
                "entry 2 of a batch of 4: " + why);
  };
  with({nullptr, source.data(), 10}, "the target of a copy of 10 bytes is null");
  with({target.data(), nullptr, 10}, "the source");
  with({target.data(), source.data(), 10, 9}, "a copy of 10 bytes into room for 9");
  with({target.data() + 95, source.data(), 10}, "the target range");
  with({host.data(), target.data(), 10},
       "its addresses are device_to_host, those before it host_to_device");
  EXPECT_EQ(read(target), bytes(100, 1));
  const std::vector<copy_entry> many(copy_batch_request::entries_max + 1,
                                     {target.data(), source.data(), 1});
  EXPECT_THAT(s.copy_batch({many, copy_kind::automatic, {}}), SaysThat("the most is 65536"));
  const std::vector<copy_entry> nothing(3);
  EXPECT_THAT(s.copy_batch({nothing, copy_kind::automatic, {}}), IsOk());
  EXPECT_THAT(s.copy_batch({}), IsOk());
}

TEST_F(copy_forms, D1_one_ordinary_entry_makes_a_batch_wait) {
  auto source = pinned(bytes(100, 5));
  auto target = on_device(bytes(100, 0));
  const bytes ordinary(10, 6);
  ASSERT_THAT(s.wait(hold), IsOk());
  const std::vector<copy_entry> entries{{target.data(), source.data(), 90},
                                        {target.data() + 90, ordinary.data(), 10}};
  side_thread copying([&] { return s.copy_batch({entries, copy_kind::automatic, {}}); });
  ASSERT_TRUE(copying.waits_for(s));
  ASSERT_THAT(s.abort(), IsOk());
  EXPECT_THAT(copying.join(), HasCode(code::stream_abort));
  EXPECT_EQ(read(target), bytes(100, 0));
}

TEST_F(copy_forms, D1_a_batch_of_ordinary_memory_alone_waits_as_well) {
  auto target = on_device(bytes(100, 0));
  const bytes ordinary(100, 6);
  ASSERT_THAT(s.wait(hold), IsOk());
  const std::vector<copy_entry> entries{{target.data(), ordinary.data(), 50},
                                        {target.data() + 50, ordinary.data() + 50, 50}};
  side_thread copying([&] { return s.copy_batch({entries, copy_kind::automatic, {}}); });
  ASSERT_TRUE(copying.waits_for(s));
  hold.raise();
  EXPECT_THAT(copying.join(), IsOk());
  EXPECT_EQ(read(target), ordinary);
}

// -- conversions ----------------------------------------------------------------

TEST_F(copy_forms, numbers_are_converted_on_the_way_to_the_device_and_back) {
  std::vector<float> source(5'000);
  for (std::size_t i = 0; i < source.size(); ++i) source[i] = static_cast<float>(i) / 7 - 300;
  auto halves = ctx.allocate<half>(source.size()).value();
  auto eighths = ctx.allocate<std::int8_t>(source.size()).value();
  std::vector<float> seen(source.size());
  EXPECT_THAT(s.convert(halves, source), IsOk());
  EXPECT_THAT(s.convert(seen, halves), IsOk());
  for (std::size_t i = 0; i < seen.size(); ++i) {
    ASSERT_EQ(seen[i], static_cast<float>(half(source[i])));
  }
  EXPECT_THAT(ctx.convert(eighths, source, 4.0F), IsOk());
  EXPECT_THAT(s.convert(seen, eighths, 4.0F), IsOk());
  EXPECT_EQ(seen[0], -300) << "-75 times 4";
  EXPECT_EQ(seen[4'900], 400);
}

TEST_F(copy_forms, D3_conversions_are_checked_before_anything_is_queued) {
  const std::vector<float> source(100);
  auto target = ctx.allocate<half>(99).value();
  auto large = ctx.allocate<float>(200).value();
  const auto refuse = [&](const convert_request& r, const char* why) {
    both_refuse(&context::convert_raw, &stream::convert_raw, r, why);
  };
  refuse(make_convert_request(target, source, 1, {}), "to 200 bytes into room for 198");
  refuse(make_convert_request(large.span(), std::vector<half>(201), 1, {}), "into room for 800");
  convert_request r = make_convert_request(large.span(), source, 1, {});
  refuse(r, "no conversion from f32 to f32");
  r.how.to = number_type::f16;
  r.source = large.data() + 10;
  refuse(r, "that converts overlap");
  r.count = 0;
  EXPECT_THAT(s.convert_raw(r), IsOk());
}

// -- fills ----------------------------------------------------------------------

TEST_F(copy_forms, fills_repeat_values_of_each_size) {
  const auto check = [&](auto value) {
    auto target = ctx.allocate<decltype(value)>(1'001).value();
    std::vector<decltype(value)> seen(1'001);
    EXPECT_THAT(s.fill(target, value), IsOk());
    EXPECT_THAT(s.copy(seen, target), IsOk());
    EXPECT_EQ(seen, std::vector<decltype(value)>(1'001, value));
    EXPECT_THAT(ctx.fill(target.span().subspan(1, 10), static_cast<decltype(value)>(1)), IsOk());
    EXPECT_THAT(s.copy(seen, target), IsOk());
    EXPECT_EQ(seen[10], static_cast<decltype(value)>(1));
    EXPECT_EQ(seen[11], value);
  };
  check(static_cast<unsigned char>(7));
  check(static_cast<std::uint16_t>(0x1234));
  check(1.5F);
  check(1.0 / 3);
}

TEST_F(copy_forms, a_fill_of_rows_begins_its_pattern_anew_in_each_and_leaves_gaps) {
  auto target = on_device(bytes(100, 9));
  fill_2d_request fill;
  fill.target = target.data();
  fill.pitch = 11; // odd, as is the width
  fill.width = 5;
  fill.height = 9;
  const std::array value{std::byte{1}, std::byte{2}};
  fill.value = fill_pattern(gsl::span<const std::byte>(value));
  both_ways(&context::fill_2d, &stream::fill_2d, fill, [&] {
    const auto seen = read(target);
    for (std::size_t i = 0; i < 100; ++i) {
      const bool gap = i % 11 >= 5 || i >= 99;
      ASSERT_EQ(seen[i], gap ? 9 : i % 11 % 2 == 0 ? 1 : 2) << i;
    }
  });
  fill.pitch = 5;
  EXPECT_THAT(s.fill_2d(fill), IsOk());
  EXPECT_THAT(s.synchronize(), IsOk());
  const auto packed = read(target);
  for (std::size_t i = 0; i < 45; ++i) ASSERT_EQ(packed[i], i % 5 % 2 == 0 ? 1 : 2) << i;
  fill.pitch = 4;
  both_refuse(&context::fill_2d, &stream::fill_2d, fill, "the target pitch of 4");
  fill.pitch = 13;
  both_refuse(&context::fill_2d, &stream::fill_2d, fill, "leaves the allocation of 100");
  bytes host(1'000);
  fill.target = host.data();
  both_refuse(&context::fill_2d, &stream::fill_2d, fill, "lies in no device");
}

} // namespace
} // namespace troupe
