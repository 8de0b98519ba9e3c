// What copies touch, and whether they did what they had to.

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <optional>
#include <variant>
#include <vector>

#include "actors/copy_extent.hpp"
#include "actors/copy_loop.hpp"

namespace troupe {
namespace {

// Calls `use(target, source, bytes)` for each range of `count` bytes of the copy from `at` on, of
// which those of a batch begin at its next entry. Not for what is converted.
template <class Use>
void each_range(const copy_payload& copy, std::size_t at, std::size_t count, const Use& use) {
  const auto source_at = [&](std::size_t offset) {
    return copy.source == nullptr ? nullptr : copy.source + offset;
  };
  if (const auto* rows = std::get_if<in_rows>(&copy.form)) {
    each_part_of_rows(*rows, at, count, false,
                      [&](std::size_t to, std::size_t from, std::size_t bytes) {
                        use(copy.target + to, source_at(from), bytes);
                      });
  } else if (const auto* list = std::get_if<in_entries>(&copy.form)) {
    auto skipped = list->done;
    for (const auto* entry = list->entries + list->at; count > 0; ++entry) {
      const auto bytes = std::min(count, entry->bytes - skipped);
      use(static_cast<std::byte*>(entry->target) + skipped,
          static_cast<const std::byte*>(entry->source) + skipped, bytes);
      count -= bytes;
      skipped = 0;
    }
  } else {
    use(copy.target + at, source_at(at), count);
  }
}

bool differs(const std::byte* target, const std::byte* source, std::size_t bytes,
             std::size_t& where) {
  where = static_cast<std::size_t>(std::mismatch(target, target + bytes, source).first - target);
  return where < bytes;
}

std::vector<std::byte> repeated(const fill_pattern& pattern, std::size_t phase,
                                std::size_t bytes) {
  std::vector<std::byte> made(bytes);
  for (std::size_t i = 0; i < bytes; ++i) made[i] = pattern.bytes[(phase + i) % pattern.bytes.size()];
  return made;
}

std::optional<std::size_t> first_misconverted(const copy_payload& before, std::size_t count,
                                              const conversion& how) {
  std::vector<std::byte> wanted(count);
  const auto first = before.done / size_of(how.to);
  convert(wanted.data(), before.source + first * size_of(how.from), count / size_of(how.to), how);
  std::size_t where = 0;
  if (!differs(before.target + before.done, wanted.data(), count, where)) return std::nullopt;
  return before.done + where;
}

// Whether source and target have bytes in common: what was there before is gone then.
bool moves_within(const copy_payload& copy, const in_rows* rows) {
  if (copy.source == nullptr) return false;
  if (rows == nullptr) return overlap(copy.target, copy.bytes, copy.source, copy.bytes);
  return overlap(copy.target, extent_of(copy.bytes, rows->width, rows->target_pitch), copy.source,
                 extent_of(copy.bytes, rows->width, rows->source_pitch));
}

// The targets of those entries of a batch that a chunk wrote to; of other copies none.
class targets_of {
public:
  targets_of(const copy_payload& before, const copy_payload& after) {
    const auto* from = std::get_if<in_entries>(&before.form);
    if (from == nullptr) return;
    const auto& to = std::get<in_entries>(after.form);
    const auto end = to.at + (to.done > 0 ? 1U : 0U);
    for (auto i = from->at; i < end; ++i) {
      const auto& entry = from->entries[i];
      const auto first = address_of(entry.target);
      const bool within = overlap(entry.target, entry.bytes, entry.source, entry.bytes);
      all_.insert(all_.end(), within ? 2 : 1, {first, first + entry.bytes}); // twice: shared
    }
    std::sort(all_.begin(), all_.end(), [](auto& a, auto& b) { return a.first < b.first; });
    for (std::size_t i = 1; i < all_.size(); ++i) {
      all_[i].end = std::max(all_[i].end, all_[i - 1].end);
    }
  }

  // Whether any of them may have changed the source.
  [[nodiscard]] bool touch(const std::byte* source, std::size_t bytes) const {
    const auto behind = first_behind(source + bytes);
    return behind != all_.begin() && std::prev(behind)->end > address_of(source);
  }

  // Whether more than one of them wrote to a part of one.
  [[nodiscard]] bool share(const std::byte* target, std::size_t bytes) const {
    const auto behind = first_behind(target + bytes);
    return behind - all_.begin() > 1 && std::prev(behind, 2)->end > address_of(target);
  }

private:
  struct range {
    std::uintptr_t first;
    std::uintptr_t end; // the last of this and all before it
  };
  static std::uintptr_t address_of(const void* at) {
    return reinterpret_cast<std::uintptr_t>(at);
  }

  [[nodiscard]] std::vector<range>::const_iterator first_behind(const std::byte* place) const {
    return std::lower_bound(
        all_.begin(), all_.end(), address_of(place),
        [](const range& each, std::uintptr_t end) { return each.first < end; });
  }

  std::vector<range> all_; // by where they begin
};

} // namespace

// Of a batch all entries, however far it has come.
void copy_payload::ranges(const void* payload, const access_sink& sink) {
  const auto& self = *static_cast<const copy_payload*>(payload);
  if (const auto* by = std::get_if<converted>(&self.form)) {
    const auto elements = self.bytes / size_of(by->how.to);
    sink({self.source, elements * size_of(by->how.from), access_mode::read});
    return sink({self.target, self.bytes, access_mode::write});
  }
  auto whole = self;
  if (auto* list = std::get_if<in_entries>(&whole.form)) *list = {list->entries, 0, 0};
  each_range(whole, 0, whole.bytes,
             [&sink](const std::byte* to, const std::byte* from, std::size_t count) {
               if (from != nullptr) sink({from, count, access_mode::read});
               sink({to, count, access_mode::write});
             });
}

std::optional<std::size_t> first_miscopied(const copy_payload& before, const copy_payload& after) {
  const auto count = after.done - before.done;
  if (const auto* by = std::get_if<converted>(&before.form)) {
    return first_misconverted(before, count, by->how);
  }
  const auto* rows = std::get_if<in_rows>(&before.form);
  const auto width = rows != nullptr ? rows->width : before.bytes;
  if (moves_within(before, rows)) return std::nullopt;
  const targets_of written(before, after);
  // Rows are copied from the last when the target lies behind.
  const bool backwards = rows != nullptr && before.source != nullptr && before.target > before.source;
  auto passed = backwards ? before.bytes - after.done : before.done;
  std::optional<std::size_t> wrong;
  each_range(before, passed, count,
             [&](const std::byte* target, const std::byte* source, std::size_t bytes) {
               std::size_t where = 0;
               const auto wanted = source == nullptr
                                       ? repeated(before.value, passed % width, bytes)
                                       : std::vector<std::byte>(source, source + bytes);
               if (!wrong && !written.touch(source, bytes) && !written.share(target, bytes) &&
                   differs(target, wanted.data(), bytes, where)) {
                 wrong = passed + where;
               }
               passed += bytes;
             });
  return wrong;
}

} // namespace troupe
