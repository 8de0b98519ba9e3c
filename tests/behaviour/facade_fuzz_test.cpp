// All calls of the facade with handles, numbers and addresses drawn by chance, most of them bad: the
// caller is told, never the runtime blamed, and what is refused has no effect. F5.

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/stage.hpp"

namespace troupe {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t count = 64;

// A destroyed context is told by 507007 (A5), an event that was never recorded by 507000, a name that
// no kernel has by 507027, and a limit that the caller set by 507046 and 507047: with these codes it
// is the caller's doing all the same.
bool is_callers_or_resources(const status& told, const std::string& call) {
  const auto number = static_cast<int>(told.code());
  if (number < 300'000) return true;
  return told.code() == code::context_released || told.code() == code::kernel_lookup ||
         told.code() == code::stream_sync_timeout || told.code() == code::event_sync_timeout ||
         (told.code() == code::internal_error && call == "event::elapsed_since");
}

class facade_fuzz : public stage_test {
protected:
  facade_fuzz() {
    streams.push_back(ctx.create_stream().value());
    streams.push_back(elsewhere.create_stream().value());
    streams.push_back(far.create_stream().value());
    streams.push_back(of_ended.create_stream().value());
    streams.emplace_back(ctx.create_stream().value());
    streams.back().destroy().or_throw();
    streams.push_back(std::move(moved_stream)); // empties it
    events = {ctx.create_event().value(), far.create_event().value(),
              of_ended.create_event().value(), ctx.create_event().value(), event()};
    streams[0].record(events[0]).or_throw();
    contexts = {ctx, elsewhere, far, of_ended, destroyed, context()};
    for (const auto& each : {ctx, far, of_ended}) {
      buffers.push_back(each.allocate<int>(count).value());
    }
    buffers.push_back(ctx.allocate<int>(count).value());
    const auto* stale = buffers.back().data();
    buffers.back().free().or_throw();
    addresses = {nullptr, buffers[0].data(), buffers[0].data() + count / 2, buffers[1].data(),
                 const_cast<int*>(stale), host.data()};
    destroyed.destroy().or_throw();
    ended.shutdown().or_throw();
  }

  // -- what calls are given ---------------------------------------------------------

  template <class T>
  T& one_of(std::vector<T>& all) {
    return all[below(all.size())];
  }
  std::size_t below(std::size_t end) { return draw() % end; }

  stream& a_stream() { return one_of(streams); }
  event& an_event() { return one_of(events); }
  context& a_context() { return one_of(contexts); }
  buffer<int>& a_buffer() { return one_of(buffers); }
  const device& a_device() { return one_of(devices); }
  const runtime& a_runtime() { return below(4) == 0 ? ended : rt; }
  void* an_address() { return one_of(addresses); }

  // Never without limit on what may not end.
  timeout a_limit() {
    static const std::vector<timeout> all{1ms, 0ms, -7ms, timeout(INT64_MIN), 5ms, 60'000ms};
    return all[below(all.size())];
  }
  // Beside addresses of the host no more than lies there.
  std::size_t a_size() {
    static const std::vector<std::size_t> all{0, 1, 4, 17, count};
    return all[below(all.size())];
  }
  std::size_t any_size() {
    static const std::vector<std::size_t> all{0, 3, std::size_t{1} << 62, SIZE_MAX, count};
    return all[below(all.size())];
  }
  copy_request a_copy() {
    copy_request made;
    made.target = an_address();
    made.source = an_address();
    made.bytes = a_size();
    made.target_bytes = a_size();
    made.kind = static_cast<copy_kind>(below(8));
    return made;
  }

  // -- the calls ----------------------------------------------------------------------

  struct call {
    std::string name;
    std::function<status()> make;
  };
  std::vector<call> calls_of_streams();
  std::vector<call> calls_of_contexts();
  std::vector<call> calls_of_the_rest();

  // What a refused call must leave alone, and what a successful one gives back, as nobody keeps it.
  [[nodiscard]] std::vector<std::uint64_t> held() const {
    std::vector<std::uint64_t> seen;
    for (const auto& each : {dev, other_device}) {
      const auto counters = each.counters();
      const auto memory = each.memory().value();
      for (const std::uint64_t figure :
           {std::uint64_t{counters.streams}, std::uint64_t{counters.events},
            memory.used - memory.quarantined}) {
        seen.push_back(figure);
      }
    }
    return seen;
  }
  [[nodiscard]] std::vector<std::uint64_t> state() const {
    auto seen = held();
    for (const auto* each : {&streams[0], &streams[1], &streams[2]}) {
      seen.push_back(each->counters().submitted);
    }
    return seen;
  }

  device other_device = rt.device(1).value();
  context elsewhere = dev.create_context().value();
  context far = other_device.create_context().value();
  context destroyed = dev.create_context().value();
  runtime ended = make_runtime(test_options(1));
  context of_ended = ended.device(0).value().create_context().value();
  stream moved_stream = ctx.create_stream().value();
  std::vector<int> host = std::vector<int>(count);
  std::vector<device> devices{dev, other_device, ended.device(0).value()};
  std::vector<stream> streams;
  std::vector<event> events;
  std::vector<context> contexts;
  std::vector<buffer<int>> buffers;
  std::vector<void*> addresses;
  std::mt19937_64 draw;
};

std::vector<facade_fuzz::call> facade_fuzz::calls_of_streams() {
  const auto nothing = [] {};
  return {
      {"launch",
       [=, this] {
         return a_stream().launch({"task", static_cast<unsigned>(below(2))}, nothing);
       }},
      {"launch on memory",
       [this] { return a_stream().launch("task", [](std::span<int>) {}, a_buffer()); }},
      {"launch_by_name", [this] { return a_stream().launch_by_name("not registered"); }},
      {"copy in", [this] { return a_stream().copy(a_buffer(), host); }},
      {"copy out", [this] { return a_stream().copy(host, a_buffer()); }},
      {"copy across", [this] { return a_stream().copy(a_buffer(), a_buffer()); }},
      {"copy_raw", [this] { return a_stream().copy_raw(a_copy()); }},
      {"fill_bytes", [this] { return a_stream().fill_bytes(a_buffer(), 1); }},
      {"callback", [=, this] { return a_stream().callback("call", nothing); }},
      {"callback of nobody", [this] { return a_stream().callback("call", nullptr); }},
      {"record", [this] { return a_stream().record(an_event()); }},
      {"wait", [this] { return a_stream().wait(an_event(), a_limit()); }},
      {"wait for a signal", [this] { return a_stream().wait(signal(), a_limit()); }},
      {"synchronize", [this] { return a_stream().synchronize(a_limit()); }},
      {"query", [this] { return a_stream().query().error(); }},
      {"abort", [this] { return a_stream().abort(); }},
      {"set_failure_mode", [this] { return a_stream().set_failure_mode(failure_mode::go_on); }},
  };
}

std::vector<facade_fuzz::call> facade_fuzz::calls_of_contexts() {
  return {
      {"create_stream",
       [this] {
         return a_context()
             .create_stream({static_cast<unsigned>(below(12)), static_cast<unsigned>(below(3))})
             .error();
       }},
      {"create_event", [this] { return a_context().create_event().error(); }},
      {"create_pool", [this] { return a_context().create_pool({any_size(), true}).error(); }},
      {"allocate", [this] { return a_context().allocate<int>(any_size()).error(); }},
      {"free_raw", [this] { return a_context().free_raw(an_address()); }},
      {"memory", [this] { return a_context().memory().error(); }},
      {"context copy", [this] { return a_context().copy_raw(a_copy()); }},
      {"context synchronize", [this] { return a_context().synchronize(a_limit()); }},
      {"default_stream", [this] { return a_context().default_stream().error(); }},
      {"health", [this] { return a_context().health(); }},
  };
}

std::vector<facade_fuzz::call> facade_fuzz::calls_of_the_rest() {
  const auto index = [this] {
    static const std::vector<std::int64_t> all{0, 1, 2, -1, INT64_MAX, INT64_MIN};
    return all[below(all.size())];
  };
  return {
      {"device", [=, this] { return a_runtime().device(index()).error(); }},
      {"profile", [=, this] { return a_runtime().profile(index()).error(); }},
      {"health of a device", [=, this] { return a_runtime().health(index()).error(); }},
      {"reset_device", [=, this] { return a_runtime().reset_device(index(), below(2) == 0); }},
      {"allocate_host", [this] { return a_runtime().allocate_host<int>(any_size()).error(); }},
      {"register_kernel", [this] { return a_runtime().register_kernel("", [] {}); }},
      {"add_failure_listener",
       [this] { return a_runtime().add_failure_listener(nullptr).error(); }},
      {"remove_failure_listener",
       [this] { return a_runtime().remove_failure_listener(any_size(), below(2) == 0); }},
      {"create_context",
       [this] {
         context_options made;
         made.memory_limit_bytes = any_size();
         return a_device().create_context(made).error();
       }},
      {"device memory", [this] { return a_device().memory().error(); }},
      {"reserve", [this] { return a_device().reserve(any_size(), any_size()).error(); }},
      {"create_physical",
       [this] { return a_device().create_physical(SIZE_MAX - below(9)).error(); }},
      {"set_abort_hook", [this] { return a_device().set_abort_hook("", nullptr); }},
      {"repair", [this] { return a_device().repair(); }},
      {"event query", [this] { return an_event().query().error(); }},
      {"event synchronize", [this] { return an_event().synchronize(a_limit()); }},
      {"event::elapsed_since",
       [this] { return an_event().elapsed_since(an_event()).error(); }},
  };
}

TEST_F(facade_fuzz, F5_no_argument_crashes_a_call_changes_anything_or_is_blamed_on_the_runtime) {
  auto all = calls_of_streams();
  for (auto& each : calls_of_contexts()) all.push_back(std::move(each));
  for (auto& each : calls_of_the_rest()) all.push_back(std::move(each));
  std::vector<unsigned> refused(all.size());
  const auto at_first = held();
  for (int round = 0; round < 4'000; ++round) {
    const auto at = below(all.size());
    streams[0].synchronize().or_throw();
    await([&] { return held() == at_first; });
    const auto before = state();
    const auto told = all[at].make();
    ASSERT_TRUE(is_callers_or_resources(told, all[at].name))
        << all[at].name << ": " << told.describe();
    if (told.ok()) continue;
    ++refused[at];
    ASSERT_FALSE(told.message().empty()) << all[at].name;
    ASSERT_EQ(state(), before) << all[at].name << ": " << told.describe();
  }
  for (std::size_t i = 0; i < all.size(); ++i) EXPECT_GT(refused[i], 0U) << all[i].name;
  int ran = 0;
  EXPECT_THAT(s.launch("after", [&ran] { ++ran; }), IsOk());
  EXPECT_THAT(s.synchronize(), IsOk());
  EXPECT_EQ(ran, 1);
}

} // namespace
} // namespace troupe
