// Host memory of the program's own that the runtime was told of (D1).

#include <span>
#include <vector>

#include "tests/behaviour/side_thread.hpp"

namespace troupe {
namespace {

class registered_memory : public stage_test {
protected:
  registered_memory() : stage_test(patient_options()) {}

  std::vector<int> host = std::vector<int>(100, 1);
  buffer<int> data = ctx.allocate<int>(100).value();
  signal hold = rt.create_signal();
};

TEST_F(registered_memory, D1_a_copy_with_it_returns_at_once_and_reads_it_when_it_runs) {
  ASSERT_THAT(rt.register_host(host.data(), host.size() * sizeof(int)), IsOk());
  ASSERT_THAT(s.wait(hold), IsOk());
  ASSERT_THAT(s.copy(data, std::span<const int>(host)), IsOk()); // though its stream is held
  host[99] = 7;
  hold.raise();
  ASSERT_THAT(s.synchronize(), IsOk());
  std::vector<int> seen(100);
  ASSERT_THAT(ctx.copy(std::span(seen), data), IsOk());
  EXPECT_EQ(seen[99], 7);
  EXPECT_THAT(rt.unregister_host(host.data()), IsOk());
}

TEST_F(registered_memory, D1_is_ordinary_memory_again_when_it_was_taken_away) {
  ASSERT_THAT(rt.register_host(host.data(), host.size() * sizeof(int)), IsOk());
  ASSERT_THAT(rt.unregister_host(host.data()), IsOk());
  ASSERT_THAT(s.wait(hold), IsOk());
  side_thread copier([&] { return s.copy(data, std::span<const int>(host)); });
  ASSERT_TRUE(copier.waits_for(s));
  hold.raise();
  EXPECT_THAT(copier.join(), IsOk());
}

TEST_F(registered_memory, E3_bad_ranges_are_refused_and_change_nothing) {
  const auto pinned = rt.allocate_host<int>(10).value();
  const auto bytes = host.size() * sizeof(int);
  ASSERT_THAT(rt.register_host(&host[20], 40), IsOk());
  EXPECT_THAT(rt.register_host(nullptr, 8), HasCode(code::bad_argument));
  EXPECT_THAT(rt.register_host(host.data(), 0), HasCode(code::bad_argument));
  EXPECT_THAT(rt.register_host(host.data(), bytes), HasCode(code::invalid_parameter));
  EXPECT_THAT(rt.register_host(&host[29], 8), HasCode(code::invalid_parameter));
  EXPECT_THAT(rt.register_host(&host[20], 8), HasCode(code::invalid_parameter));
  EXPECT_THAT(rt.register_host(&host[1], SIZE_MAX), HasCode(code::invalid_parameter));
  EXPECT_THAT(rt.register_host(pinned.data(), 8), HasCode(code::invalid_parameter));
  EXPECT_THAT(rt.register_host(data.data(), 8), HasCode(code::invalid_parameter));
  EXPECT_THAT(rt.unregister_host(&host[21]), HasCode(code::invalid_parameter));
  EXPECT_THAT(s.copy(data, std::span<const int>(&host[20], 20)), HasCode(code::invalid_parameter))
      << "it leaves the range";
  EXPECT_THAT(rt.register_host(&host[30], 40), IsOk()); // what lies beside it
  EXPECT_THAT(rt.unregister_host(&host[20]), IsOk());
  EXPECT_THAT(rt.unregister_host(&host[20]), HasCode(code::invalid_parameter));
  EXPECT_THAT(rt.unregister_host(&host[30]), IsOk());
}

} // namespace
} // namespace troupe
