#include "core/code.hpp"

namespace troupe {

std::string_view to_string(code c) noexcept {
  switch (c) {
    case code::success: return "success";
    case code::bad_argument: return "bad_argument";
    case code::uninitialized: return "uninitialized";
    case code::repeat_initialize: return "repeat_initialize";
    case code::invalid_file: return "invalid_file";
    case code::parse_file: return "parse_file";
    case code::repeat_finalize: return "repeat_finalize";
    case code::invalid_parameter: return "invalid_parameter";
    case code::invalid_device: return "invalid_device";
    case code::context_null: return "context_null";
    case code::stream_context: return "stream_context";
    case code::event_timestamp_invalid: return "event_timestamp_invalid";
    case code::event_timestamp_reversal: return "event_timestamp_reversal";
    case code::invalid_handle: return "invalid_handle";
    case code::wait_timeout: return "wait_timeout";
    case code::task_timeout: return "task_timeout";
    case code::device_task_abort: return "device_task_abort";
    case code::stream_abort: return "stream_abort";
    case code::capture_dependency: return "capture_dependency";
    case code::stream_unjoined: return "stream_unjoined";
    case code::stream_captured: return "stream_captured";
    case code::event_captured: return "event_captured";
    case code::stream_not_captured: return "stream_not_captured";
    case code::capture_mode: return "capture_mode";
    case code::capture_implicit: return "capture_implicit";
    case code::capture_conflict: return "capture_conflict";
    case code::capture_unmatched: return "capture_unmatched";
    case code::model_running: return "model_running";
    case code::capture_wrong_thread: return "capture_wrong_thread";
    case code::capture_would_block: return "capture_would_block";
    case code::not_supported: return "not_supported";
    case code::memory_allocation: return "memory_allocation";
    case code::no_device: return "no_device";
    case code::resource_shortage: return "resource_shortage";
    case code::no_event_resource: return "no_event_resource";
    case code::no_stream_resource: return "no_stream_resource";
    case code::over_limit: return "over_limit";
    case code::queue_full: return "queue_full";
    case code::device_out_of_memory: return "device_out_of_memory";
    case code::internal_error: return "internal_error";
    case code::context_released: return "context_released";
    case code::lost_heartbeat: return "lost_heartbeat";
    case code::kernel_timeout: return "kernel_timeout";
    case code::kernel_exception: return "kernel_exception";
    case code::kernel_lookup: return "kernel_lookup";
    case code::kernel_duplicate: return "kernel_duplicate";
    case code::stream_sync_timeout: return "stream_sync_timeout";
    case code::event_sync_timeout: return "event_sync_timeout";
    case code::hbm_multi_bit_ecc: return "hbm_multi_bit_ecc";
    case code::capture_invalidated: return "capture_invalidated";
  }
  return "unnamed_code";
}

} // namespace troupe
