#pragma once

#include <cstdint>
#include <string_view>

namespace troupe {

/// What went wrong, by the numbers of the public AscendCL interface, so that the C++ and the C
/// facades speak of the same failure with the same number.
///
/// The hundreds of thousands tell who is to blame: 1xxxxx the caller, 2xxxxx the environment or a
/// resource, 5xxxxx the device or the runtime itself.
enum class code : std::int32_t {
  success = 0,

  bad_argument = 100000,
  uninitialized = 100001,
  repeat_initialize = 100002,
  invalid_file = 100003,
  parse_file = 100006,
  repeat_finalize = 100037,

  invalid_parameter = 107000,
  invalid_device = 107001,
  context_null = 107002,
  stream_context = 107003,
  event_timestamp_invalid = 107006,
  event_timestamp_reversal = 107007,
  invalid_handle = 107017,
  wait_timeout = 107019,
  task_timeout = 107020,
  device_task_abort = 107022,
  stream_abort = 107023,
  capture_dependency = 107024,
  stream_unjoined = 107025,
  stream_captured = 107027,
  event_captured = 107028,
  stream_not_captured = 107029,
  capture_mode = 107030,
  capture_implicit = 107031,
  capture_conflict = 107032,
  capture_unmatched = 107036,
  model_running = 107037,
  capture_wrong_thread = 107038,
  capture_would_block = 107041,

  not_supported = 207000,
  memory_allocation = 207001,
  no_device = 207004,
  resource_shortage = 207005,
  no_event_resource = 207007,
  no_stream_resource = 207008,
  over_limit = 207012,
  queue_full = 207014,
  device_out_of_memory = 207018,

  internal_error = 507000,
  context_released = 507007,
  lost_heartbeat = 507010,
  kernel_timeout = 507014,
  kernel_exception = 507015,
  kernel_lookup = 507027,
  kernel_duplicate = 507028,
  stream_sync_timeout = 507046,
  event_sync_timeout = 507047,
  hbm_multi_bit_ecc = 507054,
  capture_invalidated = 507903,
};

/// The enumerator's name, for messages and logs; "unnamed_code" for a number without a name here.
/// Any thread; the view lives for ever.
[[nodiscard]] std::string_view to_string(code c) noexcept;

} // namespace troupe
