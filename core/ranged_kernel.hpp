#pragma once

#include <functional>
#include <utility>
#include <vector>

#include "core/access.hpp"
#include "core/kernel_closure.hpp"
#include "core/status.hpp"
#include "core/task.hpp"

namespace troupe {

/// Payload of a kernel whose memory is known as it is launched and not by its signature: what other
/// languages launch. Blocks share the function, so it must be callable from several threads at once.
struct ranged_kernel {
  std::function<status(const block&)> function;
  std::vector<access_range> memory;

  static status invoke(void* payload, const block& b) {
    return static_cast<ranged_kernel*>(payload)->function(b);
  }

  static void ranges(const void* payload, const access_sink& sink) {
    for (const auto& each : static_cast<const ranged_kernel*>(payload)->memory) sink(each);
  }

  static const operation ops;
};

inline constexpr operation ranged_kernel::ops = make_runnable<ranged_kernel>();

/// The command that launches `function`, which touches `memory`.
[[nodiscard]] inline command make_ranged_command(const task& t,
                                                 std::function<status(const block&)> function,
                                                 std::vector<access_range> memory) {
  command made(command_kind::kernel, t.name, t.site);
  made.blocks = t.blocks;
  emplace_payload<ranged_kernel>(made, ranged_kernel{std::move(function), std::move(memory)});
  return made;
}

} // namespace troupe
