#pragma once

#include "core/command.hpp"
#include "core/status.hpp"
#include "troupe/copy_request.hpp"

namespace troupe {

/// The command for a copy of more than 0 bytes in a graph, which goes by the contexts that the
/// request names: the runtime that will run it is not known yet. Failures: 107000 for a null pointer
/// or too little room, 207000 from host to host.
[[nodiscard]] result<command> make_graph_copy(const copy_request& request);

} // namespace troupe
