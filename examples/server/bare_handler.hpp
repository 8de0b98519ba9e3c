#pragma once

#include "examples/digits/weights.hpp"
#include "examples/server/answer.hpp"

namespace troupe::server {

/// The same network without a device: each request is computed at once by the thread that asks, one
/// image at a time. What the service is measured against. Throws as `digits::network`.
[[nodiscard]] classifier make_bare_classifier(const digits::weight_set& weights);

} // namespace troupe::server
