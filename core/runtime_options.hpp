#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "core/device_profile.hpp"
#include "core/status.hpp"

namespace troupe {

/// How a runtime is built. A plain value, used once, when the runtime starts.
///
/// Every field can be set by code, by a JSON file and, except the list of devices, by an
/// environment variable named after it: `compute_threads` is TROUPE_COMPUTE_THREADS. Precedence,
/// from weak to strong: the defaults below, the file, the environment. A program that starts the
/// runtime with options of its own and `use_environment = false` gets exactly those.
///
/// Limits and meaning of every field, as one table: `describe_option_fields`.
struct runtime_options {
  static constexpr std::size_t default_devices = 8;
  static constexpr std::size_t devices_max = 64;
  static constexpr unsigned queue_depth_min = 2;
  static constexpr unsigned queue_depth_max = 1'048'576;

  std::vector<device_profile> devices =
      std::vector<device_profile>(default_devices, device_profile::ascend_910());

  unsigned control_workers = 1;
  unsigned compute_threads = 0; ///< 0: what the hardware offers, at least 2
  unsigned dma_threads = 1;
  unsigned callback_threads_max = 64;
  unsigned queue_depth = 1024; ///< commands
  unsigned submit_timeout_ms = 10'000;
  unsigned control_timeout_ms = 5'000; ///< 0: no end
  double memory_budget_fraction = 0.5;
  std::uint64_t memory_budget_bytes = 0; ///< 0: use the fraction
  unsigned spin_us = 20;
  unsigned drain_ms = 0;
  unsigned stop_bound_ms = 500;
  unsigned copy_chunk_kib = 1024;
  unsigned stuck_threads_max = 64; ///< of one device, for kernels and for callbacks
  unsigned checked_memory = 0;     ///< 1: wrong uses of device memory become diagnostics

  friend bool operator==(const runtime_options&, const runtime_options&) = default;

  /// Options from a JSON object; what it does not mention keeps its default. Beside the fields of
  /// the table it may hold `devices`: a number of default devices, or an array of profiles, each
  /// with an optional `count`. Failures: `parse_file` with the position for broken JSON;
  /// `invalid_parameter` with field, value and limit.
  [[nodiscard]] static result<runtime_options> from_json(std::string_view json);

  /// The same from a file of at most 1 MiB. Failure `invalid_file`, with path and reason, when it
  /// cannot be read; else as `from_json`, with the path in the message. Blocks on the disk.
  [[nodiscard]] static result<runtime_options> from_file(const std::string& path);

  /// `invalid_parameter`, worded as by `from_json`, for the first field that code has set outside
  /// its limits.
  [[nodiscard]] status validate() const;
};

/// Looks a variable up: its value, or null when it is not set. The value is copied at once.
using environment_getter = std::function<const char*(const char* name)>;

/// Lays the environment over `options`, in this order: TROUPE_CONFIG, a regular file as for
/// `from_file` whose fields win over those in `options`; TROUPE_DEVICES, a number of default
/// devices; TROUPE_PROFILE, a file with one profile that all devices get; one variable for each
/// field of the table. An empty variable counts as not set, as is usual in shells.
///
/// Fails as `from_file` does, with the variable named; a failure leaves `options` unchanged.
[[nodiscard]] status apply_environment(runtime_options& options, const environment_getter& get);

/// The same with this process's environment. Not while another thread changes the environment.
[[nodiscard]] status apply_environment(runtime_options& options);

/// The variables of `environment` ("NAME=value", ended by null) that begin with TROUPE_ and set
/// nothing, most likely misspelt, in order of name. TROUPE_TEST_, TROUPE_STRESS_ and TROUPE_FAULT_
/// belong to tests and are passed by.
[[nodiscard]] std::vector<std::string> unknown_variables(const char* const* environment);

/// The same for this process's environment. Not while another thread changes it.
[[nodiscard]] std::vector<std::string> unknown_variables();

/// A reference of all fields as a Markdown table: JSON field, environment variable, default,
/// allowed values, meaning. `devices` is not in it; see `from_json`.
[[nodiscard]] std::string describe_option_fields();

} // namespace troupe
