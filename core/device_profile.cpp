#include "core/device_profile.hpp"

#include <nlohmann/json.hpp>

#include "core/json_fields.hpp"

namespace troupe {
namespace {

using row = field<device_profile>;

// Upper limits are far above any part, and keep sums over all devices and products such as
// bytes x bandwidth far from overflow; 1 TiB times 64 devices still fits 47 bits of addresses.
constexpr std::array<row, 10> table{{
    {{"name", 1, 255, false, "what property queries report"}, &device_profile::name},
    {{"memory_bytes", 4096, 1099511627776.0, false, "device memory"},
     &device_profile::memory_bytes},
    {{"cores", 1, 1024, false, "cores that the device reports; blocks run on the compute threads"},
     &device_profile::cores},
    {{"clock_khz", 1, 1e8, false, "clock of a core; 1000000 is 1000 MHz"},
     &device_profile::clock_khz},
    {{"peak_flops", 0, 1e18, true, "peak of the whole device, FLOP/s"},
     &device_profile::peak_flops},
    {{"link_bandwidth", 0, 1e15, true, "host to device, bytes/s in each direction"},
     &device_profile::link_bandwidth},
    {{"memory_bandwidth", 0, 1e15, true, "within the device, bytes/s"},
     &device_profile::memory_bandwidth},
    {{"queue_slots", 1, 65536, false,
      "streams served at the same time; surplus ones queue for a slot"},
     &device_profile::queue_slots},
    {{"stream_limit", 1, 1048576, false, "streams that may exist on the device"},
     &device_profile::stream_limit},
    {{"event_limit", 1, 16777216, false, "events that may exist on the device"},
     &device_profile::event_limit},
}};

} // namespace

result<device_profile> parse_profile(std::string_view json) {
  const auto parsed = parse_json(json, "device profile");
  if (!parsed) return parsed.error();
  device_profile profile;
  if (auto outcome = read_fields(parsed.value(), bind_fields(table, profile)); !outcome.ok())
    return outcome;
  return profile;
}

std::string to_json(const device_profile& profile) {
  device_profile copy = profile;
  return write_fields(bind_fields(table, copy));
}

status validate(const device_profile& profile) {
  device_profile copy = profile;
  return check_fields(bind_fields(table, copy));
}

std::string describe_profile_fields() {
  device_profile defaults;
  return describe_fields(bind_fields(table, defaults), environment_column::absent);
}

} // namespace troupe
