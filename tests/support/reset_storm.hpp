#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/support/playing.hpp"
#include "troupe/troupe.hpp"

namespace troupe {

/// Threads that submit and wait while another aborts and resets their device (behaviour G5): each
/// request has one reply, of those that a caller can make sense of, and a task runs once at most.
/// Live, and in simulated runs once `playing` is set.
class reset_storm {
public:
  explicit reset_storm(runtime& rt) : dev_(rt.device(0).value()) {}

  /// Until each of `submitters` has made `requests` requests; throws if a reply was wrong.
  void run(int submitters, int requests) {
    std::vector<test_thread> threads;
    for (int i = 0; i < submitters; ++i) {
      threads.emplace_back([this, requests] {
        submit(requests);
        ++ended_;
      });
    }
    disturb(static_cast<std::uint64_t>(submitters), submitters * requests / 12);
    for (auto& each : threads) each.join();
    if (replies_ != requests_) note("requests without a reply");
    expect_usable();
    if (wrong_) throw std::runtime_error(*wrong_);
  }

  [[nodiscard]] std::uint64_t succeeded() const noexcept { return succeeded_; }
  [[nodiscard]] std::uint64_t refused() const noexcept { return replies_ - succeeded_; }

private:
  /// What a request of another thread's device may be told.
  static bool fair(const status& s) {
    constexpr std::array all{code::success, code::device_task_abort, code::stream_abort,
                             code::context_null, code::context_released};
    return std::find(all.begin(), all.end(), s.code()) != all.end();
  }

  void submit(int requests) {
    std::optional<context> ctx;
    std::optional<stream> s;
    for (int i = 0; i < requests; ++i) {
      ++requests_;
      const auto outcome = one_request(ctx, s);
      if (!fair(outcome)) note("told is " + outcome.describe());
      if (outcome.ok()) ++succeeded_;
      if (outcome.code() == code::context_released) s.reset();
      ++replies_;
    }
  }

  status one_request(std::optional<context>& ctx, std::optional<stream>& s) {
    if (!s) {
      auto home = dev_.create_context();
      if (!home) return home.error();
      auto made = home.value().create_stream();
      if (!made) return made.error();
      ctx = std::move(home).value();
      s = std::move(made).value();
    }
    const auto ran = std::make_shared<std::atomic<int>>(0);
    const auto dropped = s->counters().dropped;
    auto outcome = s->launch("work", [ran] { ++*ran; });
    const bool accepted = outcome.ok();
    if (accepted) outcome = s->synchronize();
    if (*ran > (accepted ? 1 : 0)) note("a task ran that was refused, or twice");
    // What an abort dropped before anybody waited is only counted.
    if (outcome.ok() && *ran == 0 && s->counters().dropped == dropped) {
      note("a task that did not run is told to have succeeded");
    }
    return outcome;
  }

  // Each time some more replies have been given.
  void disturb(std::uint64_t submitters, int replies_between) {
    constexpr std::array resets{false, true, false, false, true};
    auto seen = std::uint64_t{0};
    for (std::size_t turn = 0; ended_ < submitters; ++turn) {
      seen += static_cast<std::uint64_t>(replies_between);
      await([&] { return replies_ >= seen || ended_ == submitters; });
      const auto outcome = resets.at(turn % resets.size()) ? dev_.reset() : dev_.abort();
      if (!outcome.ok()) note("an abort or reset: " + outcome.describe());
    }
  }

  void expect_usable() {
    std::optional<context> ctx;
    std::optional<stream> s;
    const auto outcome = one_request(ctx, s);
    if (!outcome.ok()) note("afterwards: " + outcome.describe());
  }

  void note(const std::string& what) {
    const std::lock_guard lock(guard_);
    if (!wrong_) wrong_ = what;
  }

  device dev_;
  std::atomic<std::uint64_t> requests_ = 0;
  std::atomic<std::uint64_t> replies_ = 0;
  std::atomic<std::uint64_t> succeeded_ = 0;
  std::atomic<std::uint64_t> ended_ = 0;
  std::mutex guard_;
  std::optional<std::string> wrong_;
};

} // namespace troupe
