#include "api/src/copy_forms.hpp"

#include <algorithm>
#include <functional>
#include <optional>
#include <string>
#include <utility>

#include "actors/context_record.hpp"
#include "actors/copy_extent.hpp"

namespace troupe {
namespace {

status refuse(std::string why) { return make_status(code::invalid_parameter, std::move(why)); }

void add_owner(std::vector<std::uint64_t>& owners, std::uint64_t one) {
  if (one != 0 && std::find(owners.begin(), owners.end(), one) == owners.end()) {
    owners.push_back(one);
  }
}

// What both sides of a copy with these extents are.
result<prepared_copy> prepare_sides(const machine& home, void* target, std::size_t target_extent,
                                    const void* source, std::size_t source_extent,
                                    const timeline* user) {
  const auto seen = check_sides(home, {target, target_extent, 0}, {source, source_extent, 0}, user);
  if (!seen) return seen.error();
  prepared_copy made;
  made.payload.target = static_cast<std::byte*>(target);
  made.payload.source = static_cast<const std::byte*>(source);
  made.direction = seen.value().direction;
  made.pinned = seen.value().pinned;
  made.target_extent = target_extent;
  made.source_extent = source_extent;
  add_owner(made.owners, seen.value().target_owner);
  add_owner(made.owners, seen.value().source_owner);
  return made;
}

status check_pitch(const char* side, std::size_t pitch, std::size_t width, std::size_t height) {
  if (pitch < width) {
    return refuse(std::string("the ") + side + " pitch of " + std::to_string(pitch) +
                  " bytes is less than the width of " + std::to_string(width));
  }
  if (height - 1 <= (SIZE_MAX - width) / pitch) return {};
  return refuse(std::to_string(height) + " rows with a " + side + " pitch of " +
                std::to_string(pitch) + " bytes fit no address space");
}

// Rows without anything between them are one.
copy_form form_of(std::size_t width, std::size_t height, std::size_t target_pitch,
                  std::size_t source_pitch) {
  if (height == 1 || (target_pitch == width && source_pitch == width)) return in_a_row{};
  return in_rows{width, target_pitch, source_pitch};
}

status overlapping(const char* what) {
  return refuse(std::string("source and target of a copy ") + what + " overlap");
}

std::string place_in(const copy_batch_request& request, std::size_t index) {
  return "entry " + std::to_string(index) + " of a batch of " +
         std::to_string(request.entries.size()) + ": ";
}

// From the first to the last byte of all ranges of one side.
struct extent {
  std::byte* low = nullptr;
  std::byte* high = nullptr;

  void add(const void* address, std::size_t bytes) {
    auto* first = static_cast<std::byte*>(const_cast<void*>(address));
    const std::less<> before;
    low = low == nullptr || before(first, low) ? first : low;
    high = high == nullptr || before(high, first + bytes) ? first + bytes : high;
  }
  [[nodiscard]] std::size_t bytes() const { return static_cast<std::size_t>(high - low); }
};

// All of a batch at once, if each side lies in one block or in ordinary memory of the host. Nothing
// where the copies must be looked at one by one, also to tell which of them is wrong.
std::optional<prepared_copy> prepare_whole(const machine& home, const copy_batch_request& request,
                                           const timeline* user) {
  std::size_t bytes = 0;
  extent target;
  extent source;
  for (const auto& each : request.entries) {
    if (each.bytes == 0) continue;
    const bool wrong = each.target == nullptr || each.source == nullptr ||
                       each.bytes > each.target_bytes || each.bytes > SIZE_MAX - bytes;
    if (wrong) return std::nullopt;
    bytes += each.bytes;
    target.add(each.target, each.bytes);
    source.add(each.source, each.bytes);
  }
  if (bytes == 0) return std::nullopt;
  const bool one_target = home.locate(target.low).memory != nullptr;
  const bool one_source = home.locate(source.low).memory != nullptr;
  const auto is_ordinary = [&home](const void* address) {
    return home.locate(address).what == machine::place::kind::ordinary;
  };
  for (const auto& each : request.entries) {
    if (each.bytes == 0) continue;
    if (!one_target && !is_ordinary(each.target)) return std::nullopt;
    if (!one_source && !is_ordinary(each.source)) return std::nullopt;
  }
  auto made = prepare_sides(home, target.low, target.bytes(), source.low, source.bytes(), user);
  if (!made) return std::nullopt;
  auto whole = std::move(made).value();
  whole.payload.target = nullptr;
  whole.payload.source = nullptr;
  whole.target_extent = whole.source_extent = 0; // it says itself where it lies
  whole.payload.bytes = bytes;
  whole.pinned = whole.pinned || request.held;
  whole.payload.form = in_entries{request.entries.data(), 0, 0};
  return whole;
}

} // namespace

result<prepared_copy> prepare(const machine& home, const copy_2d_request& request,
                              const timeline* user) {
  const auto& r = request;
  if (auto s = check_pitch("target", r.target_pitch, r.width, r.height); !s.ok()) return s;
  if (auto s = check_pitch("source", r.source_pitch, r.width, r.height); !s.ok()) return s;
  const auto bytes = r.width * r.height; // no more than an extent
  const auto target_extent = extent_of(bytes, r.width, r.target_pitch);
  const auto source_extent = extent_of(bytes, r.width, r.source_pitch);
  auto made = prepare_sides(home, r.target, target_extent, r.source, source_extent, user);
  if (!made) return made;
  if (r.target_pitch != r.source_pitch && r.height > 1 &&
      overlap(r.target, target_extent, r.source, source_extent)) {
    return overlapping("in rows of different pitch");
  }
  made.value().payload.bytes = bytes;
  made.value().payload.form = form_of(r.width, r.height, r.target_pitch, r.source_pitch);
  return made;
}

result<prepared_copy> prepare(const machine& home, const copy_batch_request& request,
                              const timeline* user) {
  if (request.entries.size() > copy_batch_request::entries_max) {
    return refuse("a batch of " + std::to_string(request.entries.size()) +
                  " copies; the most is " + std::to_string(copy_batch_request::entries_max));
  }
  if (auto whole = prepare_whole(home, request, user)) return std::move(*whole);
  prepared_copy made;
  made.payload.form = in_entries{request.entries.data(), 0, 0};
  for (std::size_t i = 0; i < request.entries.size(); ++i) {
    const auto& entry = request.entries[i];
    if (entry.bytes == 0) continue;
    copy_request one;
    one.target = entry.target;
    one.target_bytes = entry.target_bytes;
    one.source = entry.source;
    one.bytes = entry.bytes;
    const auto seen = check_copy(home, one, user);
    if (!seen) {
      return make_status(seen.error().code(), place_in(request, i) + seen.error().message());
    }
    if (made.payload.bytes == 0) made.direction = seen.value().direction;
    if (made.direction != seen.value().direction) {
      return refuse(place_in(request, i) + "its addresses are " +
                    to_string(seen.value().direction) + ", those before it " +
                    to_string(made.direction));
    }
    if (entry.bytes > SIZE_MAX - made.payload.bytes) {
      return refuse(place_in(request, i) + "all together are more bytes than can be counted");
    }
    made.payload.bytes += entry.bytes;
    made.pinned = made.pinned && (seen.value().pinned || request.held);
    add_owner(made.owners, seen.value().target_owner);
    add_owner(made.owners, seen.value().source_owner);
  }
  return made;
}

result<prepared_copy> prepare(const machine& home, const convert_request& request,
                              const timeline* user) {
  const auto& r = request;
  if (auto s = check_conversion(r.how); !s.ok()) return s;
  const auto wider = std::max(size_of(r.how.from), size_of(r.how.to));
  if (r.count > SIZE_MAX / wider) {
    return refuse(std::to_string(r.count) + " elements fit no address space");
  }
  const auto bytes = r.count * size_of(r.how.to);
  if (bytes > r.target_bytes) {
    return refuse("a conversion to " + std::to_string(bytes) + " bytes into room for " +
                  std::to_string(r.target_bytes));
  }
  const auto read = r.count * size_of(r.how.from);
  auto made = prepare_sides(home, r.target, bytes, r.source, read, user);
  if (!made) return made;
  if (overlap(r.target, bytes, r.source, read)) return overlapping("that converts");
  made.value().payload.bytes = bytes;
  made.value().payload.form = converted{r.how};
  return made;
}

result<prepared_copy> prepare(const context_record& context, const fill_2d_request& request,
                              const timeline* user) {
  const auto& r = request;
  if (auto s = check_pitch("target", r.pitch, r.width, r.height); !s.ok()) return s;
  const auto bytes = r.width * r.height;
  prepared_copy made;
  made.name = "fill";
  made.direction = copy_kind::device_to_device;
  made.target_extent = extent_of(bytes, r.width, r.pitch);
  if (auto s = check_fill(context, r.target, made.target_extent, user); !s.ok()) return s;
  made.payload.target = static_cast<std::byte*>(r.target);
  made.payload.bytes = bytes;
  made.payload.value = r.value;
  // The pattern begins anew in each row, unless the rows are whole patterns.
  const bool whole = r.width % r.value.bytes.size() == 0;
  made.payload.form =
      whole ? form_of(r.width, r.height, r.pitch, r.pitch) : in_rows{r.width, r.pitch, r.pitch};
  made.owners.push_back(context.id());
  return made;
}

} // namespace troupe
