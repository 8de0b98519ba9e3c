// Memory by address: bad pointers (E3), which free waits (E8), what a context may use (E7), what it
// leaves behind, and handles kept across a reset (J8).

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "tests/behaviour/side_thread.hpp"

namespace troupe {
namespace {

class raw_memory : public stage_test {
protected:
  raw_memory() : stage_test(patient_options()) {}

  std::byte* take(std::size_t bytes = 1000) {
    return static_cast<std::byte*>(ctx.allocate_raw(bytes).value());
  }

  signal hold = rt.create_signal();
};

TEST_F(raw_memory, E3_bad_pointers_are_refused_each_time_and_the_books_are_unchanged) {
  auto* live = take();
  auto* freed = take();
  auto* held = ctx.allocate<char>(100).value().data();
  const auto pinned = rt.allocate_host<char>(100).value();
  const auto own = ctx.allocate<char>(100).value();
  const auto p = ctx.create_pool().value();
  const auto part = p.allocate<char>(s, 100).value();
  const auto foreign = rt.device(1).value().create_context().value();
  auto* far = foreign.allocate_raw(100).value();
  int ordinary = 0;
  ASSERT_THAT(ctx.free_raw(freed), IsOk());
  const auto used = dev.memory().value().used;
  EXPECT_THAT(ctx.free_raw(nullptr), HasCode(code::bad_argument));
  const std::vector<std::pair<const char*, void*>> bad = {
      {"freed already", freed},      {"within a block", live + 512},
      {"of the host", &ordinary},    {"pinned", pinned.data()},
      {"of a buffer", own.data()},   {"of a pool", part.data()},
      {"of another device", far},    {"of a buffer that is gone", held},
      {"never allocated", live + (std::size_t{128} << 20)}};
  for (int round = 0; round < 2; ++round) {
    for (const auto& [name, address] : bad) {
      EXPECT_THAT(ctx.free_raw(address), HasCode(code::invalid_parameter)) << name;
      if (address == far) continue; // which the runtime finds wherever it is
      EXPECT_THAT(rt.free_raw(address), HasCode(code::invalid_parameter)) << name;
    }
  }
  EXPECT_EQ(dev.memory().value().used, used);
  EXPECT_THAT(ctx.free_raw(live + 512), SaysThat("is 512 bytes into a block, not its start"));
  EXPECT_THAT(ctx.free_raw(own.data()), SaysThat("is of a buffer or pool, which frees it"));
  EXPECT_THAT(ctx.free_raw(live), IsOk());
  EXPECT_THAT(rt.free_raw(nullptr), HasCode(code::bad_argument));
  EXPECT_THAT(rt.free_raw(far), IsOk());
  EXPECT_THAT(foreign.free_raw(far), HasCode(code::invalid_parameter));
  EXPECT_THAT(ctx.allocate_raw(0), HasCode(code::bad_argument));
}

TEST_F(raw_memory, E8_plain_free_acts_at_once_and_names_the_work_that_may_use_it) {
  auto* x = take();
  ASSERT_THAT(s.wait(hold), IsOk());
  ASSERT_THAT(ctx.free_raw(x), IsOk());
  ASSERT_EQ(rt.diagnostics().size(), 1U);
  EXPECT_EQ(rt.diagnostics()[0].what, diagnostic::kind::freed_in_use);
  EXPECT_EQ(rt.diagnostics()[0].stream, s.id());
  EXPECT_NE(take(), x) << "it is in quarantine";
  EXPECT_EQ(ctx.memory().value().quarantined, 1024U);
  EXPECT_THAT(ctx.free_raw(x), HasCode(code::invalid_parameter));
  hold.raise();
  ASSERT_THAT(s.synchronize(), IsOk());
  EXPECT_EQ(ctx.memory().value().quarantined, 0U);
}

TEST_F(raw_memory, E8_free_after_the_device_waits_for_all_its_streams) {
  auto* x = take();
  const auto beside = dev.create_context().value();
  auto far = beside.create_stream().value();
  ASSERT_THAT(far.wait(hold), IsOk());
  side_thread freeing([&] { return ctx.free_raw(x, free_mode::after_device); });
  ASSERT_TRUE(freeing.waits_for(far));
  hold.raise();
  EXPECT_THAT(freeing.join(), IsOk());
  EXPECT_TRUE(rt.diagnostics().empty());
  EXPECT_EQ(dev.memory().value().used, 0U);
}

TEST_F(raw_memory, E8_abort_ends_a_free_that_waits_with_nothing_freed) {
  auto* x = take();
  ASSERT_THAT(s.wait(hold), IsOk());
  side_thread freeing([&] { return ctx.free_raw(x, free_mode::after_device); });
  ASSERT_TRUE(freeing.waits_for(s));
  ASSERT_THAT(s.abort(), IsOk());
  EXPECT_THAT(freeing.join(), HasCode(code::stream_abort));
  EXPECT_EQ(ctx.memory().value().used, 1024U);
  EXPECT_THAT(ctx.free_raw(x, free_mode::after_device), IsOk());
}

TEST_F(raw_memory, E7_context_may_use_its_limit_to_the_byte_and_no_more) {
  constexpr std::uint64_t limit = 4096;
  const auto own = dev.create_context({.memory_limit_bytes = limit}).value();
  auto* all = own.allocate_raw(limit).value();
  const auto refused = own.allocate_raw(1);
  ASSERT_THAT(refused, HasCode(code::memory_allocation));
  const auto& lacking = *refused.error().record()->lacking;
  EXPECT_EQ(lacking.resource, "context memory");
  EXPECT_EQ(lacking.asked, 512U);
  EXPECT_EQ(lacking.used, limit);
  EXPECT_EQ(lacking.limit, limit);
  EXPECT_THAT(ctx.allocate_raw(limit), IsOk()) << "another context is not concerned";
  ASSERT_THAT(own.free_raw(all), IsOk());
  EXPECT_THAT(own.allocate_raw(limit + 1), HasCode(code::memory_allocation));
  EXPECT_THAT(own.create_pool().value().allocate<char>(own.default_stream().value(), 1),
              HasCode(code::memory_allocation));
  const auto seen = own.memory().value();
  EXPECT_EQ(seen.used, 0U);
  EXPECT_EQ(seen.high_water, limit);
  EXPECT_EQ(seen.limit, limit);
}

TEST_F(raw_memory, E7_memory_in_quarantine_counts_until_its_last_use_has_ended) {
  const auto own = dev.create_context({.memory_limit_bytes = 512}).value();
  auto user = own.create_stream().value();
  ASSERT_THAT(user.wait(hold), IsOk());
  ASSERT_THAT(own.free_raw(own.allocate_raw(512).value()), IsOk());
  EXPECT_THAT(own.allocate_raw(512), HasCode(code::memory_allocation));
  hold.raise();
  ASSERT_THAT(user.synchronize(), IsOk());
  EXPECT_THAT(own.allocate_raw(512), IsOk());
}

TEST_F(raw_memory, J8_end_of_a_context_names_what_was_not_freed_and_gives_it_back) {
  const auto own = dev.create_context().value();
  void* last = nullptr;
  for (const std::size_t bytes : {100U, 200U}) last = own.allocate_raw(bytes).value();
  const auto kept = own.allocate<char>(100).value(); // frees itself, however late
  ASSERT_THAT(own.destroy(), IsOk());
  const auto notes = rt.diagnostics();
  ASSERT_EQ(notes.size(), 1U);
  EXPECT_EQ(notes[0].what, diagnostic::kind::leaked_memory);
  for (const auto* part : {"context", "2 allocations, 300 bytes", "200 bytes of",
                           "raw_memory_test.cpp:"}) {
    EXPECT_NE(notes[0].message.find(part), std::string::npos) << notes[0].message;
  }
  EXPECT_EQ(dev.memory().value().used, 0U);
  EXPECT_THAT(ctx.free_raw(last), HasCode(code::invalid_parameter));
  EXPECT_THAT(own.free_raw(last), HasCode(code::context_released));
}

} // namespace
} // namespace troupe
