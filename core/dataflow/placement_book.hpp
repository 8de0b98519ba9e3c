#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include <gsl/gsl>

namespace troupe {

/// What speaks for running a node at one place, and what against it.
struct place_offer {
  std::uint64_t bytes = 0; ///< of the node's tensors that lie there
  std::uint64_t load = 0;  ///< commands that it would wait for there without need
};

/// Where a node runs: the place with most of its bytes, of equals the least loaded, then the first.
/// If it would wait there for `patience` commands more than at the least loaded: at the latter, of
/// equals that with most bytes, then the first. `offers` is not empty.
[[nodiscard]] std::size_t choose_place(gsl::span<const place_offer> offers,
                                       std::uint64_t patience);

/// Which ranges of memory have copies at other places, as long as a copy holds what the original
/// holds. A value; the copies are numbers that ascend from 1.
class placement_book {
public:
  using copy = std::uint64_t;

  /// The copy of exactly these bytes at `place`.
  [[nodiscard]] std::optional<copy> find(const void* base, std::size_t bytes,
                                         std::size_t place) const;

  /// Enters a copy, of which there is none yet at `place`.
  copy add(const void* base, std::size_t bytes, std::size_t place);

  /// These bytes are written: forgets all copies that have any of them, and returns those, ascending.
  std::vector<copy> written(const void* base, std::size_t bytes);

  /// Forgets one, if it is known.
  void forget(copy which);

  /// Marks the memory that begins at `base`, in place of an older mark there. Marks are numbered as
  /// copies are.
  using mark = std::uint64_t;
  mark set_mark(const void* base);
  [[nodiscard]] std::optional<mark> mark_at(const void* base) const;
  void remove_mark(mark which);

  [[nodiscard]] std::size_t size() const noexcept { return places_.size(); }

private:
  struct entry {
    std::size_t bytes;
    std::size_t place;
    copy number;
  };
  using entry_map = std::multimap<std::uintptr_t, entry>; // by their begin

  entry_map entries_;
  std::map<copy, entry_map::iterator> places_;
  copy last_ = 0;
  std::map<std::uintptr_t, mark> marks_;
  std::map<mark, std::uintptr_t> marked_;
  mark last_mark_ = 0;
  std::size_t longest_ = 0; // no range of any entry is longer
};

} // namespace troupe
