#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <gsl/gsl>

namespace troupe {

/// The moments at which a fault can strike; each stands for "is about to happen".
enum class fault_point : unsigned char {
  message,  ///< an actor gets a message
  submit,   ///< a command enters its stream
  handoff,  ///< a stream gives its grant to an engine
  execute,  ///< an engine starts a command
  complete, ///< the end of a command is published on its timeline
  notice,   ///< someone who waits is told that it is over
  allocate, ///< memory is taken from a device, a pool or the host
  reply,    ///< an actor answers a client that waits for it
  timer,    ///< the runtime sets itself a timer
  heartbeat, ///< the runtime looks whether a device is there
};

inline constexpr std::size_t fault_point_count = 10;

/// A set of points, one bit each.
using fault_point_set = std::uint16_t;

inline constexpr fault_point_set all_fault_points = (1U << fault_point_count) - 1;

template <class... Points>
[[nodiscard]] constexpr fault_point_set points_of(Points... each) noexcept {
  return static_cast<fault_point_set>(((1U << static_cast<unsigned>(each)) | ...));
}

[[nodiscard]] constexpr bool contains(fault_point_set set, fault_point point) noexcept {
  return (set >> static_cast<unsigned>(point) & 1U) != 0;
}

/// The points of a set: "message, notice"; "all" for all of them. Any thread.
[[nodiscard]] std::string points_in(fault_point_set set);

/// The names of the points, in the order of the enumerators. Any thread; they live for ever.
[[nodiscard]] gsl::span<const std::string_view> fault_point_names() noexcept;

[[nodiscard]] std::string_view to_string(fault_point point) noexcept;

/// The engines that a plan may name: compute, dma_h2d, dma_d2h, dma_d2d, callback.
[[nodiscard]] gsl::span<const std::string_view> fault_engine_names() noexcept;

/// What tells one thing that may be struck from another: a pick asks for it, a victim has it. What
/// does not apply is left empty.
struct fault_place {
  fault_point point = fault_point::message;
  std::optional<std::uint64_t> device;
  std::optional<std::uint64_t> context;
  std::optional<std::uint64_t> stream;
  std::string engine;    ///< one of `fault_engine_names`
  std::string message;   ///< kind of the message
  std::string operation; ///< name of the task, kernel or copy; of a reply, the call it answers
  std::string channel;
  std::uint64_t ordinal = 0;

  friend bool operator==(const fault_place&, const fault_place&) = default;
};

/// Where something is about to happen: a `fault_place` and the moment. A plain value that borrows its texts, as one is made for
/// every message while a plan is active; what does not apply is left empty or null.
///
/// `channel` and `ordinal` are what makes a fault repeat: a channel is an ordered path between two
/// parties whose name is the same in every run, and `ordinal` counts what passes there, from 1.
struct fault_site {
  fault_point point = fault_point::message;
  std::optional<std::uint64_t> device;
  std::optional<std::uint64_t> context;
  std::optional<std::uint64_t> stream;
  const char* engine = nullptr;    ///< one of `fault_engine_names`
  const char* message = nullptr;   ///< kind of the message
  const char* operation = nullptr; ///< name of the task, kernel, copy or call
  std::string_view channel;        ///< never empty when asked about
  std::uint64_t ordinal = 0;       ///< at least 1 when asked about
  std::int64_t now_ns = 0;         ///< since the runtime began
  std::uint64_t bytes = 0;
};

/// A `fault_site` with texts of its own, for what is kept after the moment is over.
struct fault_victim : fault_place {
  std::int64_t now_ns = 0;
  std::uint64_t bytes = 0;

  [[nodiscard]] static fault_victim of(const fault_site& site);

  friend bool operator==(const fault_victim&, const fault_victim&) = default;
};

/// One line for a human, without what does not apply: "execute of operation 'scale', device 0" ...
[[nodiscard]] std::string describe(const fault_victim& victim);

} // namespace troupe
