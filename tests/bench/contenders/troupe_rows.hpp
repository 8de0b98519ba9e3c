#pragma once

#include "tests/bench/contender.hpp"

/// The rows of the contender `troupe`, by what they ask of it.
namespace troupe::bench::troupe_rows {

// -- streams and events ---------------------------------------------------------------------------

repetition launches(const workload& w);
repetition launch_sync(const workload& w);
repetition client_launches(const workload& w);
repetition event_chain(const workload& w);
repetition idle_sync(const workload& w);
repetition event_record(const workload& w);
repetition create_destroy(const workload& w);

// -- graphs ---------------------------------------------------------------------------------------

repetition graph_chain(const workload& w);
repetition graph_wide(const workload& w);
repetition graph_eager(const workload& w);
repetition capture_cost(const workload& w);

// -- the same through the C interface --------------------------------------------------------------

repetition acl_launch(const workload& w);
repetition acl_event_record(const workload& w);
repetition acl_idle_sync(const workload& w);

// -- memory and copies ----------------------------------------------------------------------------

repetition pool_alloc_free(const workload& w);
repetition pool_churn(const workload& w);
repetition fragmentation(const workload& w);
repetition alloc_cleared(const workload& w);
repetition copy_h2d(const workload& w);
repetition copy_d2h(const workload& w);
repetition stream_copy_h2d(const workload& w);
repetition stream_copy_d2h(const workload& w);
repetition copy_batch(const workload& w);
repetition copy_singly(const workload& w);
repetition convert_halves(const workload& w);
repetition stream_copy_batch(const workload& w);
repetition stream_convert_halves(const workload& w);

// -- small requests of many clients ---------------------------------------------------------------

repetition single_requests(const workload& w);
repetition batched_requests(const workload& w);

// -- what it takes to be there --------------------------------------------------------------------

repetition idle(const workload& w);
repetition bytes_per_stream(const workload& w);
repetition bytes_per_queued(const workload& w);

// -- tasks that find their own order --------------------------------------------------------------

repetition dataflow_tasks(const workload& w);

// -- operators put together -----------------------------------------------------------------------

repetition fused_mlp(const workload& w);
repetition unfused_mlp(const workload& w);
repetition fused_conv(const workload& w);
repetition unfused_conv(const workload& w);

// -- all together ---------------------------------------------------------------------------------

repetition digits_pipeline(const workload& w);
repetition simulated_small(const workload& w);
repetition simulated_reference(const workload& w);

}  // namespace troupe::bench::troupe_rows
