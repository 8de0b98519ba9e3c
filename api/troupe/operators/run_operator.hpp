#pragma once

#include <span>

#include "core/call_site.hpp"
#include "core/operators/inference.hpp"
#include "troupe/operators/tensor.hpp"
#include "troupe/stream.hpp"

namespace troupe {

/// Submits the operator `what` to `s`, under its name: the one way by which operators run. Only
/// name and attributes of `what` count; the tensors have the layouts. Names, arguments and shapes:
/// `operator_signature`. Scratch memory is of `scratch` and goes back in stream order. Returns at
/// once; an output must not overlap an input. The thread that computes does so alone.
///
/// Failures, all before anything is submitted: 107000 for tensors that do not fit, naming operator,
/// argument and both shapes; 207000 when the library has no such operator for these types or
/// strides; those of `pool::allocate` and `stream::launch`. f32 is served everywhere, other types
/// where oneDNN has them for this processor.
status run_operator(stream& s, const pool& scratch, operator_description what,
                    std::span<const tensor> inputs, std::span<const tensor> outputs,
                    call_site site = call_site::here());

/// As `run_operator`, with an output from `memory`: checks, allocates, submits, and returns the
/// output, which later commands of `s` may use. Failures: as above.
[[nodiscard]] result<tensor> apply_operator(stream& s, const pool& memory,
                                            operator_description what,
                                            std::span<const tensor> inputs,
                                            call_site site = call_site::here());

/// How many prepared operators this process keeps at most; the one unused longest makes room.
inline constexpr std::size_t prepared_operators_max = 256;

/// How many it keeps now. Any thread.
[[nodiscard]] std::size_t prepared_operators();

} // namespace troupe
