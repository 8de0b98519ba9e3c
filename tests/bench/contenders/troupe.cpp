#include "tests/bench/contenders/troupe.hpp"

#include "tests/bench/contenders/troupe_rows.hpp"

namespace troupe::bench {

contender troupe_contender() {
  using namespace troupe_rows;
  return {"troupe",
          {{"launch_throughput", launches},
           {"launch_sync", launch_sync},
           {"event_chain", event_chain},
           {"graph_chain_1000", graph_chain},
           {"graph_wide_1000", graph_wide},
           {"graph_eager_1000", graph_eager},
           {"capture_cost", capture_cost},
           {"idle_sync", idle_sync},
           {"event_record", event_record},
           {"acl_launch", acl_launch},
           {"acl_event_record", acl_event_record},
           {"acl_idle_sync", acl_idle_sync},
           {"stream_create_destroy", create_destroy},
           {"pool_alloc_free_1m", pool_alloc_free},
           {"pool_churn", pool_churn},
           {"fragmentation", fragmentation},
           {"alloc_1m_cleared", alloc_cleared},
           {"copy_h2d_4k", copy_h2d},
           {"copy_h2d_1m", copy_h2d},
           {"copy_h2d_64m", copy_h2d},
           {"copy_d2h_1m", copy_d2h},
           {"copy_batch_1000x4k", copy_batch},
           {"convert_f32_f16_16m", convert_halves},
           {"streams_1", launches},
           {"streams_100", launches},
           {"streams_10000", launches},
           {"clients_1", client_launches},
           {"clients_4", client_launches},
           {"single_requests", single_requests},
           {"batched_requests", batched_requests},
           {"idle_cpu", idle},
           {"dataflow_chain", dataflow_tasks},
           {"dataflow_wide", dataflow_tasks},
           {"fused_mlp", fused_mlp},
           {"unfused_mlp", unfused_mlp},
           {"fused_conv", fused_conv},
           {"unfused_conv", unfused_conv},
           {"digits_pipeline", digits_pipeline},
           {"simulated_small", simulated_small},
           {"simulated_reference", simulated_reference},
           {"bytes_per_stream", bytes_per_stream},
           {"bytes_per_queued_command", bytes_per_queued}}};
}

contender troupe_async_contender() {
  using namespace troupe_rows;
  return {"troupe_async",
          {{"copy_h2d_4k", stream_copy_h2d},
           {"copy_h2d_1m", stream_copy_h2d},
           {"copy_h2d_64m", stream_copy_h2d},
           {"copy_d2h_1m", stream_copy_d2h},
           {"copy_batch_1000x4k", stream_copy_batch},
           {"copy_single_1000x4k", copy_singly},
           {"convert_f32_f16_16m", stream_convert_halves}}};
}

}  // namespace troupe::bench
