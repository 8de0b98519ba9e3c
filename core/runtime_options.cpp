#include "core/runtime_options.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <optional>
#include <set>
#include <utility>

#include <nlohmann/json.hpp>

#include "core/json_fields.hpp"
#include "core/text_file.hpp"

namespace troupe {
namespace {

using options = runtime_options;
using row = field<options>;

constexpr std::array<row, 15> table{{
    {{"control_workers", 1, 64, false, "threads that run the actors"}, &options::control_workers},
    {{"compute_threads", 0, 1024, false,
      "threads that run kernels, shared by all devices; 0: what the hardware offers, at least 2"},
     &options::compute_threads},
    {{"dma_threads", 1, 64, false, "threads that move bytes"}, &options::dma_threads},
    {{"callback_threads_max", 1, 1024, false, "threads that run host callbacks, at most"},
     &options::callback_threads_max},
    {{"queue_depth", options::queue_depth_min, options::queue_depth_max, false,
      "commands that one stream may hold"},
     &options::queue_depth},
    {{"submit_timeout_ms", 0, 3600000, false,
      "how long a submission waits for room in a full queue; 0: refused at once"},
     &options::submit_timeout_ms},
    {{"control_timeout_ms", 0, 3600000, false,
      "how long a call waits for an actor's answer before it fails with 107019; 0: for ever"},
     &options::control_timeout_ms},
    {{"memory_budget_fraction", 0, 1, true,
      "share of the host's memory that may back device memory"},
     &options::memory_budget_fraction},
    {{"memory_budget_bytes", 0, 1125899906842624.0, false,
      "host memory that may back device memory; 0: use the fraction"},
     &options::memory_budget_bytes},
    {{"spin_us", 0, 10000, false,
      "how long a waiting thread or an idle engine polls before it sleeps"},
     &options::spin_us},
    {{"drain_ms", 0, 3600000, false, "how long shutdown lets accepted work finish"},
     &options::drain_ms},
    {{"stop_bound_ms", 1, 60000, false,
      "how long a stop request may take before a thread counts as stuck"},
     &options::stop_bound_ms},
    {{"copy_chunk_kib", 4, 1048576, false,
      "how much a copy moves before it looks at aborts and priorities"},
     &options::copy_chunk_kib},
    {{"stuck_threads_max", 1, 1024, false,
      "engines of a device, in kernels and in callbacks, that may be given up on; at that many it "
      "takes no more (207012) until one returns"},
     &options::stuck_threads_max},
    {{"checked_memory", 0, 1, false,
      "1: device memory has guard zones and patterns, and wrong uses become diagnostics; slow"},
     &options::checked_memory},
}};

constexpr double devices_max = options::devices_max;
constexpr field_rule devices_rule{"devices", 1, devices_max, false, "devices of the default kind"};
constexpr field_rule count_rule{"count", 1, devices_max, false, "devices with this profile"};

status too_many_devices(std::size_t count) {
  return make_status(code::invalid_parameter,
                     "devices: " + std::to_string(count) + " devices are not from 1 to " +
                         std::to_string(options::devices_max));
}

// One element of the array: a profile that may carry a count.
status append_devices(std::vector<device_profile>& devices, nlohmann::json element) {
  unsigned count = 1;
  if (element.is_object() && element.contains("count")) {
    if (auto read = read_value(element["count"], {&count_rule, &count}); !read.ok()) return read;
    element.erase("count");
  }
  const auto profile = parse_profile(element.dump());
  if (!profile) return profile.error();
  devices.insert(devices.end(), count, profile.value());
  return {};
}

result<std::vector<device_profile>> read_devices(const nlohmann::json& value) {
  std::vector<device_profile> devices;
  if (!value.is_array()) {
    unsigned count = 0;
    if (auto read = read_value(value, {&devices_rule, &count}); !read.ok()) {
      if (value.is_number()) return read;
      return make_status(read.code(), read.message() + ", nor an array of profiles");
    }
    devices.assign(count, device_profile::ascend_910());
    return devices;
  }
  for (std::size_t i = 0; i < value.size(); ++i) {
    if (auto added = append_devices(devices, value[i]); !added.ok())
      return within("devices[" + std::to_string(i) + "]", added);
    if (devices.size() > options::devices_max) break;
  }
  if (devices.empty() || devices.size() > options::devices_max)
    return too_many_devices(devices.size());
  return devices;
}

// Lays the fields of a JSON text over `target`, which is unchanged after a failure.
status merge_json(options& target, std::string_view json, std::string_view origin) {
  const auto parsed = parse_json(json, origin);
  if (!parsed) return parsed.error();
  options merged = target;
  const auto& object = parsed.value();
  auto read = read_fields(object, bind_fields(table, merged), devices_rule.name);
  if (!read.ok()) return within(origin, read);
  if (const auto found = object.find(devices_rule.name); found != object.end()) {
    auto devices = read_devices(*found);
    if (!devices) return within(origin, devices.error());
    merged.devices = std::move(devices).value();
  }
  target = std::move(merged);
  return {};
}

status merge_file(options& target, const std::string& path) {
  const auto text = read_text_file(path);
  if (!text) return text.error();
  return merge_json(target, text.value(), path);
}

result<device_profile> read_profile_file(const std::string& path) {
  const auto text = read_text_file(path);
  if (!text) return text.error();
  auto profile = parse_profile(text.value());
  if (!profile) return within(path, profile.error());
  return profile;
}

std::optional<std::string> look_up(const environment_getter& get, const std::string& name) {
  const char* const value = get(name.c_str());
  if (value == nullptr || *value == '\0') return std::nullopt;
  return std::string(value);
}

} // namespace

result<runtime_options> runtime_options::from_json(std::string_view json) {
  options read;
  if (auto merged = merge_json(read, json, "options"); !merged.ok()) return merged;
  return read;
}

result<runtime_options> runtime_options::from_file(const std::string& path) {
  options read;
  if (auto merged = merge_file(read, path); !merged.ok()) return merged;
  return read;
}

status runtime_options::validate() const {
  options copy = *this;
  if (auto checked = check_fields(bind_fields(table, copy)); !checked.ok()) return checked;
  if (devices.empty() || devices.size() > devices_max) return too_many_devices(devices.size());
  for (std::size_t i = 0; i < devices.size(); ++i) {
    if (auto checked = troupe::validate(devices[i]); !checked.ok())
      return troupe::within("devices[" + std::to_string(i) + "]", checked);
  }
  return {};
}

status apply_environment(runtime_options& target, const environment_getter& get) {
  options merged = target;
  if (const auto path = look_up(get, "TROUPE_CONFIG")) {
    if (auto read = merge_file(merged, *path); !read.ok()) return within("TROUPE_CONFIG", read);
  }
  if (const auto text = look_up(get, "TROUPE_DEVICES")) {
    unsigned count = 0;
    if (auto read = read_text(*text, {&devices_rule, &count}, "TROUPE_DEVICES"); !read.ok())
      return read;
    merged.devices.assign(count, device_profile::ascend_910());
  }
  if (const auto path = look_up(get, "TROUPE_PROFILE")) {
    const auto profile = read_profile_file(*path);
    if (!profile) return within("TROUPE_PROFILE", profile.error());
    merged.devices.assign(merged.devices.size(), profile.value());
  }
  for (const auto& each : bind_fields(table, merged)) {
    const auto name = environment_name(*each.rule);
    if (const auto text = look_up(get, name)) {
      if (auto read = read_text(*text, each, name); !read.ok()) return read;
    }
  }
  target = std::move(merged);
  return {};
}

status apply_environment(runtime_options& target) {
  return apply_environment(target, [](const char* name) { return std::getenv(name); });
}

std::vector<std::string> unknown_variables(const char* const* environment) {
  static constexpr std::array passed_by{"TROUPE_TEST_", "TROUPE_STRESS_", "TROUPE_FAULT_"};
  options defaults;
  std::set<std::string> known{"TROUPE_CONFIG", "TROUPE_DEVICES", "TROUPE_PROFILE",
                              "TROUPE_SEED",   "TROUPE_RUNS",    "TROUPE_SCRIPT"};
  for (const auto& each : bind_fields(table, defaults)) known.insert(environment_name(*each.rule));
  std::set<std::string> found; // in order, so that runs agree
  for (; environment != nullptr && *environment != nullptr; ++environment) {
    const std::string_view entry(*environment);
    const std::string name(entry.substr(0, entry.find('=')));
    if (!name.starts_with("TROUPE_") || known.contains(name)) continue;
    const bool of_others = std::any_of(passed_by.begin(), passed_by.end(), [&](const char* prefix) {
      return name.starts_with(prefix);
    });
    if (!of_others) found.insert(name);
  }
  return {found.begin(), found.end()};
}

std::vector<std::string> unknown_variables() { return unknown_variables(::environ); }

std::string describe_option_fields() {
  options defaults;
  return describe_fields(bind_fields(table, defaults), environment_column::present);
}

} // namespace troupe
