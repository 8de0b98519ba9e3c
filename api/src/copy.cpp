#include "api/src/copy.hpp"

#include <string>

#include "actors/copy_loop.hpp"
#include "actors/stream_drive.hpp"

namespace troupe {
namespace {

std::string to_string(copy_kind kind) {
  switch (kind) {
    case copy_kind::host_to_host: return "host_to_host";
    case copy_kind::host_to_device: return "host_to_device";
    case copy_kind::device_to_host: return "device_to_host";
    case copy_kind::device_to_device: return "device_to_device";
    case copy_kind::automatic: return "automatic";
  }
  return std::to_string(static_cast<int>(kind)) + ", which is none,";
}

command_kind command_for(copy_kind direction) noexcept {
  switch (direction) {
    case copy_kind::host_to_device: return command_kind::copy_h2d;
    case copy_kind::device_to_host: return command_kind::copy_d2h;
    case copy_kind::host_to_host:
    case copy_kind::device_to_device:
    case copy_kind::automatic: break;
  }
  return command_kind::copy_d2d;
}

// A range that begins in a device must end there.
status check_end(const machine::place& where, const void* address, std::size_t bytes,
                 const char* role) {
  if (where.what != machine::place::kind::device) return {};
  const auto* last = static_cast<const std::byte*>(address) + bytes - 1;
  if (where.device->memory->range().contains(last)) return {};
  return make_status(code::invalid_parameter, std::string("the ") + role + " range of " +
                                                  std::to_string(bytes) +
                                                  " bytes leaves the memory of device " +
                                                  std::to_string(where.device->index()));
}

copy_payload payload_of(const copy_request& request) {
  copy_payload made;
  made.target = static_cast<std::byte*>(request.target);
  made.source = static_cast<const std::byte*>(request.source);
  made.bytes = request.bytes;
  return made;
}

} // namespace

result<checked_copy> check_copy(const machine& home, const copy_request& request) {
  if (request.target == nullptr || request.source == nullptr) {
    return make_status(code::invalid_parameter,
                       std::string("the ") + (request.target == nullptr ? "target" : "source") +
                           " of a copy of " + std::to_string(request.bytes) + " bytes is null");
  }
  if (request.bytes > request.target_bytes) {
    return make_status(code::invalid_parameter,
                       "a copy of " + std::to_string(request.bytes) + " bytes into room for " +
                           std::to_string(request.target_bytes));
  }
  using kind = machine::place::kind;
  const auto target = home.locate(request.target);
  const auto source = home.locate(request.source);
  if (auto s = check_end(target, request.target, request.bytes, "target"); !s.ok()) return s;
  if (auto s = check_end(source, request.source, request.bytes, "source"); !s.ok()) return s;
  checked_copy seen;
  const bool from_device = source.what == kind::device;
  if (target.what == kind::device) {
    seen.direction = from_device ? copy_kind::device_to_device : copy_kind::host_to_device;
  } else {
    seen.direction = from_device ? copy_kind::device_to_host : copy_kind::host_to_host;
  }
  seen.pinned = target.what != kind::ordinary && source.what != kind::ordinary;
  return seen;
}

result<checked_copy> check_stream_copy(const machine& home, const copy_request& request) {
  auto seen = check_copy(home, request);
  if (!seen) return seen;
  const auto direction = seen.value().direction;
  if (direction == copy_kind::host_to_host) {
    return make_status(code::not_supported, "a copy from host to host has no place in a stream");
  }
  if (request.kind != copy_kind::automatic && request.kind != direction) {
    return make_status(code::invalid_parameter,
                       "a copy of kind " + to_string(request.kind) +
                           " between addresses that are " + to_string(direction));
  }
  return seen;
}

command make_copy_command(const copy_request& request, copy_kind direction) {
  command made(command_for(direction), "copy", request.site);
  made.emplace<copy_payload>(copy_ops, payload_of(request));
  return made;
}

void run_copy_here(machine& home, const copy_request& request, copy_kind direction) {
  auto copy = payload_of(request);
  while (copy.done < copy.bytes) copy_chunk(copy, home.copy_chunk_bytes());
  if (direction == copy_kind::host_to_host) return;
  const auto* on_device = direction == copy_kind::device_to_host ? request.source : request.target;
  home.locate(on_device)
      .device->port(engine_for(command_for(direction)))
      .count_elsewhere(1, request.bytes);
}

} // namespace troupe
