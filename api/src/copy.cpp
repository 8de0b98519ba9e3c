#include "api/src/copy.hpp"

#include <string>
#include <utility>

#include "actors/context_record.hpp"
#include "actors/copy_loop.hpp"
#include "actors/device_record.hpp"
#include "actors/stream_drive.hpp"
#include "api/src/copy_forms.hpp"

namespace troupe {
namespace {

// One side of a copy: a range of memory that the runtime manages lies in one block in use. Whose
// that is goes to `owner`; `said` is whose the caller takes it to be, 0 if that is not known.
status check_side(const machine::place& where, const void* address, std::size_t bytes,
                  std::uint64_t said, const timeline* user, memory_record::side side,
                  std::uint64_t& owner) {
  if (where.memory != nullptr) {
    const auto found = where.memory->owner_of(address, bytes, user, side);
    if (!found) return found.error();
    owner = found.value();
  } else if (where.what == machine::place::kind::device) {
    owner = said; // mapped memory has no owner; who may touch it is looked at with the command
  }
  if (said == 0 || said == owner) [[likely]] return {};
  return make_status(code::invalid_parameter,
                     std::string(side == memory_record::side::target ? "the target" : "the source")
                         + " is called memory of context " +
                         std::to_string(said) + ", but " +
                         (owner != 0 ? "is of context " + std::to_string(owner)
                                     : std::string("lies in no device of this runtime")));
}

// What begins in a registered range lies in it.
status check_registered(const machine& home, const machine::place& where, const copy_side& side) {
  const bool registered =
      where.what == machine::place::kind::pinned && where.memory == nullptr && side.bytes != 0;
  return registered ? home.registrations().check(side.address, side.bytes) : status{};
}

status null_side(const void* target, std::size_t bytes) {
  return make_status(code::invalid_parameter,
                     std::string("the ") + (target == nullptr ? "target" : "source") +
                         " of a copy of " + std::to_string(bytes) + " bytes is null");
}

copy_payload payload_of(const copy_request& request) {
  copy_payload made;
  made.target = static_cast<std::byte*>(request.target);
  made.source = static_cast<const std::byte*>(request.source);
  made.bytes = request.bytes;
  return made;
}

} // namespace

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

status check_sizes(const copy_request& request) {
  if (request.target == nullptr || request.source == nullptr) {
    return null_side(request.target, request.bytes);
  }
  if (request.bytes > request.target_bytes) {
    return make_status(code::invalid_parameter,
                       "a copy of " + std::to_string(request.bytes) + " bytes into room for " +
                           std::to_string(request.target_bytes));
  }
  return {};
}

result<checked_copy> check_sides(const machine& home, const copy_side& target,
                                 const copy_side& source, const timeline* user) {
  if (target.address == nullptr || source.address == nullptr) {
    const auto bytes = target.address == nullptr ? target.bytes : source.bytes;
    return null_side(target.address, bytes);
  }
  using kind = machine::place::kind;
  const auto to = home.locate(target.address);
  const auto from = home.locate(source.address);
  checked_copy seen;
  if (auto s = check_registered(home, to, target); !s.ok()) return s;
  if (auto s = check_registered(home, from, source); !s.ok()) return s;
  if (auto s = check_side(to, target.address, target.bytes, target.said_context, user,
                          memory_record::side::target, seen.target_owner);
      !s.ok()) {
    return s;
  }
  if (auto s = check_side(from, source.address, source.bytes, source.said_context, user,
                          memory_record::side::source, seen.source_owner);
      !s.ok()) {
    return s;
  }
  const bool from_device = from.what == kind::device;
  if (to.what == kind::device) {
    seen.direction = from_device ? copy_kind::device_to_device : copy_kind::host_to_device;
  } else {
    seen.direction = from_device ? copy_kind::device_to_host : copy_kind::host_to_host;
  }
  seen.pinned = to.what != kind::ordinary && from.what != kind::ordinary;
  return seen;
}

result<checked_copy> check_copy(const machine& home, const copy_request& request,
                                const timeline* user) {
  if (auto s = check_sizes(request); !s.ok()) return s;
  return check_sides(home, {request.target, request.bytes, request.target_context},
                     {request.source, request.bytes, request.source_context}, user);
}

result<checked_copy> check_stream_copy(const machine& home, const copy_request& request,
                                       const timeline& user) {
  auto seen = check_copy(home, request, &user);
  if (!seen) return seen;
  if (auto s = check_direction(request.kind, seen.value().direction); !s.ok()) return s;
  return seen;
}

status check_fill(const context_record& context, const void* target, std::size_t bytes,
                  const timeline* user) {
  const auto where = context.home().locate(target);
  if (where.what != machine::place::kind::device) {
    return make_status(code::invalid_parameter, "the target of a fill of " +
                                                    std::to_string(bytes) +
                                                    " bytes lies in no device of this runtime");
  }
  std::uint64_t owner = 0;
  return check_side(where, target, bytes, context.id(), user, memory_record::side::target, owner);
}

command make_fill_command(void* target, std::size_t bytes, unsigned char value, call_site site) {
  command made(command_kind::copy_d2d, "fill", site);
  copy_payload fill;
  fill.target = static_cast<std::byte*>(target);
  fill.bytes = bytes;
  fill.value = value;
  made.emplace<copy_payload>(copy_ops, fill);
  return made;
}

command make_copy_command(const copy_request& request, copy_kind direction) {
  command made(command_for(direction), "copy", request.site);
  made.emplace<copy_payload>(copy_ops, payload_of(request));
  return made;
}

std::optional<held_copy> hold_copy(const machine& home, const copy_request& request,
                                   const checked_copy& seen) {
  held_copy held;
  const auto hold = [&](const void* address, std::uint64_t owner, memory_record::lease& by) {
    auto* memory = home.locate(address).memory;
    if (memory == nullptr) return true;
    auto got = memory->lease_of(address, request.bytes, owner);
    if (got) by = std::move(*got);
    return got.has_value();
  };
  if (!hold(request.target, seen.target_owner, held.target)) return std::nullopt;
  if (!hold(request.source, seen.source_owner, held.source)) return std::nullopt;
  return held;
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
