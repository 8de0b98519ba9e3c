#include "core/exploration/cast.hpp"

namespace troupe {

std::span<const cast_role> cast() {
  static const std::vector<std::string_view> up{"up"};
  static const std::vector<std::string_view> engine_states{"free", "engaged"};
  static const std::vector<std::string_view> engine_messages{"doorbell", "work_due"};
  static const std::vector<cast_role> all{
      {"root", up, {"open_device"}},
      {"device", up, {"create_context", "retain_primary", "release_primary"}},
      {"context",
       {"usable", "failed", "ended"},
       {"create_stream", "create_pool", "destroy_context"}},
      {"stream",
       {"idle", "at work", "waiting", "draining"},
       {"abort_stream", "close_stream", "await_stream_end", "wait_expired", "abort_overdue",
        "stream_drained"}},
      {"memory",
       {"in order", "with quarantine"},
       {"allocate_block", "free_block", "settle_memory"}},
      {"notifier", up, {"task_failed", "settle_notices"}},
      {"pool", up, {"grow_pool", "close_pool"}},
      {"compute", engine_states, engine_messages},
      {"dma_h2d", engine_states, engine_messages},
      {"dma_d2h", engine_states, engine_messages},
      {"dma_d2d", engine_states, engine_messages},
      {"callback", engine_states, engine_messages},
  };
  return all;
}

} // namespace troupe
