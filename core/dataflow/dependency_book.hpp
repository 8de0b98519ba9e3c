#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <vector>

#include "core/access.hpp"

namespace troupe {

/// Who must have ended before a new node may begin, found from the bytes that nodes declare to read
/// and write. A value; the nodes are numbers that ascend from 1.
///
///     read after write    waits for the last writer, and has its failure: a data dependency
///     write after read    waits for all readers since the last write
///     write after write   waits for the last writer
///
/// A write replaces what was there, unless the node declares to read it as well.
class dependency_book {
public:
  using node = std::uint64_t;

  struct dependency {
    node on;
    bool data; ///< the new node reads what that one wrote

    friend bool operator==(const dependency&, const dependency&) = default;
  };

  /// What a node with these ranges depends on, ascending, each once. Nodes that have ended are left
  /// out, but for spoiled ones whose results it reads.
  [[nodiscard]] std::vector<dependency> dependencies_of(std::span<const access_range> ranges) const;

  /// Enters `added`, greater than all before. A node that writes and reads the same bytes declares
  /// both.
  void add(node added, std::span<const access_range> ranges);

  /// All nodes up to `last` have ended.
  void settle(node last);

  /// `which` failed: what it wrote is worth nothing until it is written again.
  void spoil(node which) { spoiled_.insert(which); }

  /// What `which` wrote in `range` is gone: the memory is another's by now, or nobody's.
  void forget(node which, const access_range& range);

  /// The spoiled nodes whose results somebody could still read.
  [[nodiscard]] const std::set<node>& spoiled() const noexcept { return spoiled_; }

  /// How many pieces of memory it keeps apart: at most a few for each range of nodes that have not
  /// ended, and of spoiled ones.
  [[nodiscard]] std::size_t pieces() const noexcept { return pieces_.size(); }

private:
  struct piece {
    std::uintptr_t end;
    node writer;               // 0: nobody
    std::vector<node> readers; // since then
  };
  using piece_map = std::map<std::uintptr_t, piece>;

  [[nodiscard]] bool lives(node which) const noexcept { return which > settled_; }
  [[nodiscard]] piece_map::const_iterator first_touching(std::uintptr_t begin) const;
  void split_at(std::uintptr_t place);
  void enter_read(node reader, std::uintptr_t begin, std::uintptr_t end);
  void enter_write(node writer, std::uintptr_t begin, std::uintptr_t end);
  void sweep();

  piece_map pieces_; // by their begin; disjoint
  std::set<node> spoiled_;
  node settled_ = 0;
  std::size_t sweep_at_ = 64;
};

} // namespace troupe
