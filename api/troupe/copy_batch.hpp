#pragma once

#include <cstddef>
#include <iterator>
#include <utility>

#include <gsl/gsl>

#include "core/call_site.hpp"
#include "core/copies/copy_form.hpp"
#include "troupe/copy_kind.hpp"
#include "troupe/copy_request.hpp"

namespace troupe {

/// Many copies as one command. All have one direction; they are made one after another, so that it
/// matters to nothing but speed that they come together.
struct copy_batch_request {
  static constexpr std::size_t entries_max = 65'536;

  gsl::span<const copy_entry> entries; ///< copied by the call
  copy_kind kind = copy_kind::automatic;
  call_site site = call_site::here();
  bool held = false; ///< on a stream: as of `copy_request`
};

/// Whether any entry moves anything.
[[nodiscard]] inline bool copies_anything(const copy_batch_request& request) noexcept {
  for (const auto& each : request.entries) {
    if (each.bytes != 0) return true;
  }
  return false;
}

/// The entry that copies all of `source` to `target`; see `make_copy_request`.
template <class Target, class Source>
[[nodiscard]] copy_entry make_copy_entry(Target&& target, const Source& source) {
  const auto whole = make_copy_request(std::forward<Target>(target), source, {});
  return {whole.target, whole.source, whole.bytes, whole.target_bytes};
}

} // namespace troupe
