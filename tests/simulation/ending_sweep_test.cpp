// Every single fault on a job that does little but make, reset and end: each call ends in bounded
// time with a truthful code, and nothing survives.

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/support/sanitizers.hpp"
#include "tests/support/simulated.hpp"
#include "troupe/testing_gtest.hpp" // shows a class of faults, as all files of this program must
#include "troupe/troupe.hpp"

namespace troupe {
namespace {

using testing::fault_class;
using testing::stage;
using namespace std::chrono_literals;

// A call may wait for its answer that long, and a few follow each other.
constexpr auto limit = 20s;

testing::simulation_options two_small_devices() {
  testing::simulation_options made;
  device_profile small;
  small.memory_bytes = std::uint64_t{64} << 20;
  made.runtime.devices.assign(2, small);
  made.runtime.stop_bound_ms = 100;
  made.costs.kernels["long"] = 30'000'000;
  made.costs.kernels["stuck"] = cost_model::never;
  return made;
}

// What the job has been told, and whether that was so.
class account {
public:
  explicit account(stage& play) : play_(&play) {}
  account() = default;

  // Whether it went well. What a fault brings about says so, or says what is gone.
  bool went(const char* call, const status& outcome) {
    if (outcome.ok()) return true;
    static const std::vector<code> truthful{
        code::wait_timeout,    code::device_task_abort,   code::stream_abort,
        code::invalid_handle,  code::resource_shortage,   code::device_out_of_memory,
        code::internal_error,  code::context_released,    code::lost_heartbeat,
        code::hbm_multi_bit_ecc};
    if (std::find(truthful.begin(), truthful.end(), outcome.code()) == truthful.end()) {
      lies_ += std::string(call) + " said " + outcome.describe() + "\n";
    }
    return false;
  }

  // There is one fault: what it has spoiled goes well when it is over.
  template <class Call>
  bool goes_again(const char* call, Call make) {
    if (went(call, make())) return true;
    play_->pass_time(1s);
    const auto again = make();
    if (!again.ok()) lies_ += std::string(call) + " said again " + again.describe() + "\n";
    return again.ok();
  }

  void must(bool truth, const char* what) {
    if (!truth) lies_ += std::string(what) + "\n";
  }

  [[nodiscard]] std::string verdict(const testing::simulation_report& report) const {
    if (report.elapsed <= limit) return lies_;
    return lies_ + "it took " + std::to_string(report.elapsed / 1ms) + " ms of virtual time\n";
  }

private:
  stage* play_ = nullptr;
  std::string lies_;
};

// Work that is still under way when its device is reset, or the runtime ends.
void leave_work(account& told, const device& dev, const char* task) {
  const auto ctx = dev.create_context();
  if (!told.went("create_context", ctx.error())) return;
  auto s = ctx.value().create_stream();
  auto other = ctx.value().create_stream();
  const auto data = ctx.value().allocate<int>(64);
  const auto shared = ctx.value().create_pool();
  for (const auto& each : {s.error(), other.error(), data.error(), shared.error()}) {
    (void)told.went("a thing of a context", each);
  }
  if (!s || !other) return;
  const auto mark = ctx.value().create_event();
  (void)told.went("launch", s.value().launch({task}, [] {}));
  if (mark && told.went("record", s.value().record(mark.value()))) {
    (void)told.went("wait", other.value().wait(mark.value()));
  }
}

void reset(account& told, const device& dev) {
  if (!told.goes_again("reset", [&] { return dev.reset(); })) return;
  told.must(dev.counters().streams == 0, "after a reset there are streams");
  const auto memory = dev.memory();
  if (told.went("memory", memory.error())) {
    const auto held = memory.value().used - memory.value().quarantined;
    told.must(held == 0, "after a reset memory is used");
  }
}

void make_reset_and_end(stage& play, account& told) {
  auto& rt = play.runtime();
  for (std::int64_t i = 0; i < 2; ++i) {
    if (!told.goes_again("device", [&] { return rt.device(i).error(); })) return;
  }
  const auto dev = rt.device(0).value();
  const auto far = rt.device(1).value();
  (void)told.goes_again("allocate_host", [&] { return rt.allocate_host<int>(64).error(); });
  const auto listener = rt.add_failure_listener([](const error_record&) {});
  if (told.went("set_device", rt.set_device(0))) {
    current::unbind();
    (void)told.went("reset_device", rt.reset_device(0));
  }
  for (const auto* task : {"long", "stuck"}) {
    leave_work(told, dev, task);
    reset(told, dev);
  }
  if (told.went("add_failure_listener", listener.error())) {
    (void)told.went("remove", rt.remove_failure_listener(listener.value(), true));
  }
  leave_work(told, far, "long");
  leave_work(told, dev, "stuck");
  (void)told.went("shutdown", rt.shutdown());
  told.must(rt.device(0).error().code() == code::uninitialized, "after its end a runtime serves");
  told.must(rt.shutdown().ok(), "a second shutdown fails");
}

class ending_sweep : public ::testing::TestWithParam<fault_class> {};

TEST_P(ending_sweep, L11_every_call_ends_in_bounded_time_with_the_truth_and_nothing_survives) {
  account told;
  const auto result = testing::sweep(
      two_small_devices(),
      [&told](stage& play) {
        told = account(play);
        make_reset_and_end(play, told);
      },
      [&told](const testing::simulation_report& report) { return told.verdict(report); },
      {GetParam()},
      sanitized ? 7 : 1);
  EXPECT_TRUE(result.findings.empty()) << result.describe();
}

INSTANTIATE_TEST_SUITE_P(all, ending_sweep, ::testing::ValuesIn(testing::all_fault_classes()),
                         [](const auto& each) {
                           return std::string(to_string(each.param.action.kind)) + "_at_" +
                                  std::string(to_string(each.param.point));
                         });

} // namespace
} // namespace troupe
