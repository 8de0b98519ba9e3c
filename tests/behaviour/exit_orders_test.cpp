// J4: a process that ends with live handles and work under way ends in time and with its exit code.

#include <csignal>
#include <cstdlib>
#include <exception>
#include <functional>
#include <memory>
#include <ostream>
#include <stdexcept>
#include <thread>

#include <unistd.h>

#include "tests/support/sanitizers.hpp"
#include "tests/support/stage.hpp"

namespace troupe {
namespace {

constexpr int exit_code = 7;

// A runtime with handles of each kind and work that has not ended.
struct busy_program {
  runtime rt{test_options(1)};
  context ctx = rt.device(0).value().create_context().value();
  stream s = ctx.create_stream().value();
  event mark = ctx.create_event().value();
  pool memory = ctx.create_pool().value();
  buffer<int> data = ctx.allocate<int>(1'000).value();
  signal never = rt.create_signal();

  busy_program() {
    s.callback("call", [] {}).or_throw();
    s.wait(never).or_throw();
    for (int i = 0; i < 10; ++i) s.launch("pending", [](std::span<int>) {}, data).or_throw();
    s.record(mark).or_throw();
  }
};

std::unique_ptr<busy_program>& static_holder() {
  static std::unique_ptr<busy_program> held;
  return held;
}

struct exit_order {
  const char* name;
  int signal; // that ends the process; 0: it exits with `exit_code`
  void (*body)();
};

void PrintTo(const exit_order& order, std::ostream* to) { *to << order.name; }

void submit_for_ever(stream s) {
  for (;;) {
    if (!s.launch("late", [] {}).ok()) std::this_thread::yield();
  }
}

void end_by_exception() {
  const busy_program mine;
  throw std::runtime_error("nobody catches it");
}

const exit_order orders[] = {
    {"static_holder", 0, [] { static_holder() = std::make_unique<busy_program>(); }},
    {"thread_local_holder", 0,
     [] {
       thread_local busy_program mine;
       mine.ctx.bind().or_throw();
     }},
    {"detached_thread_submits", 0,
     [] {
       static_holder() = std::make_unique<busy_program>();
       std::thread(submit_for_ever, static_holder()->ctx.create_stream().value()).detach();
     }},
    {"exit_with_locals_alive", 0,
     [] {
       const busy_program mine;
       std::exit(exit_code);
     }},
    {"quick_exit", 0,
     [] {
       const busy_program mine;
       std::quick_exit(exit_code);
     }},
    {"exception", SIGABRT, []() noexcept { end_by_exception(); }},
    {"finalise_first", 0,
     [] {
       static_holder() = std::make_unique<busy_program>();
       static_holder()->rt.shutdown().or_throw();
     }},
    {"no_finalise", 0,
     [] {
       const auto* left = new busy_program; // NOLINT: left alone on purpose
       (void)left;
     }},
};

class exit_orders : public ::testing::TestWithParam<exit_order> {};

// The child is a fresh process that runs this test alone; the alarm turns a hang into a signal.
TEST_P(exit_orders, J4_the_process_ends_in_time_and_with_its_exit_code) {
  LIVE_ONLY("a process of its own");
  if (sanitized) GTEST_SKIP() << "some leak on purpose, and what they leak has threads";
  ::testing::FLAGS_gtest_death_test_style = "threadsafe";
  const auto& order = GetParam();
  const auto program = [&order] {
    ::alarm(20);
    order.body();
    std::exit(exit_code);
  };
  if (order.signal != 0) {
    EXPECT_EXIT(program(), ::testing::KilledBySignal(order.signal), "");
  } else {
    EXPECT_EXIT(program(), ::testing::ExitedWithCode(exit_code), "");
  }
}

INSTANTIATE_TEST_SUITE_P(each, exit_orders, ::testing::ValuesIn(orders),
                         [](const auto& each) { return std::string(each.param.name); });

} // namespace
} // namespace troupe
