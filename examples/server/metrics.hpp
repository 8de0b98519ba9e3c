#pragma once

#include <string>

#include <troupe/troupe.hpp>

#include "examples/server/service.hpp"

namespace troupe::server {

/// The figures of the service and of its device in the text format of Prometheus (exposition format
/// 0.0.4). Any thread; disturbs neither.
[[nodiscard]] std::string metrics_text(const service& of, const device& where);

} // namespace troupe::server
