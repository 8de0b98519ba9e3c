#pragma once

#include "core/exploration/chooser.hpp"
#include "core/exploration/seeded.hpp"

namespace troupe {

/// The index of the choice that is first in `comes_before`; `enabled` must not be empty.
[[nodiscard]] std::size_t first_come(std::span<const choice> enabled);

/// First in, first out: the run that every script deviates from.
class fifo_chooser final : public chooser {
public:
  [[nodiscard]] std::size_t choose(std::span<const choice> enabled, std::uint64_t step) override;
  [[nodiscard]] const char* name() const noexcept override { return "fifo"; }
};

/// Any enabled choice, each as likely as the others. Finds what a coin finds: two things close to
/// each other swapped. It practically never holds one channel back while another takes 40 steps.
class walk_chooser final : public chooser {
public:
  explicit walk_chooser(std::uint64_t seed) : random_(seed) {}

  [[nodiscard]] std::size_t choose(std::span<const choice> enabled, std::uint64_t step) override;
  [[nodiscard]] const char* name() const noexcept override { return "walk"; }

private:
  exploration_random random_;
};

} // namespace troupe
