#include "core/cost_model.hpp"

#include <cmath>
#include <string>
#include <string_view>

#include "core/access.hpp"

namespace troupe {
namespace {

std::int64_t transfer_ns(std::uint64_t bytes, double bytes_per_second) {
  return std::llround(static_cast<double>(bytes) / bytes_per_second * 1e9);
}

} // namespace

status cost_model::validate() const {
  const auto refuse = [](const std::string& what, std::int64_t ns) {
    return make_status(code::invalid_parameter, "costs: " + what + " is " + std::to_string(ns) +
                                                    " ns; it is 0 or more");
  };
  if (launch_ns < 0) return refuse("launch_ns", launch_ns);
  if (copy_setup_ns < 0) return refuse("copy_setup_ns", copy_setup_ns);
  if (callback_ns < 0) return refuse("callback_ns", callback_ns);
  for (const auto& [name, ns] : kernels) {
    if (ns < 0) return refuse("kernel '" + name + "'", ns);
  }
  return {};
}

std::int64_t cost_model::kernel_ns(const device_profile& profile, const command& c) const {
  if (const auto found = kernels.find(std::string_view(c.name)); found != kernels.end()) {
    return found->second;
  }
  std::uint64_t bytes = 0;
  if (c.op != nullptr && c.op->ranges != nullptr) {
    const auto add = [](void* sum, const access_range& range) {
      *static_cast<std::uint64_t*>(sum) += range.bytes;
    };
    c.op->ranges(c.payload(), access_sink{add, &bytes});
  }
  return launch_ns + transfer_ns(bytes, profile.memory_bandwidth);
}

std::int64_t cost_model::copy_ns(const device_profile& profile, bool within_device,
                                 std::uint64_t bytes, bool begins) const {
  const auto rate = within_device ? profile.memory_bandwidth : profile.link_bandwidth;
  return (begins ? copy_setup_ns : 0) + transfer_ns(bytes, rate);
}

} // namespace troupe
