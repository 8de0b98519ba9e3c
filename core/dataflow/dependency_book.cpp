#include "core/dataflow/dependency_book.hpp"

#include <algorithm>
#include <iterator>

#include <gsl/gsl>

namespace troupe {
namespace {

constexpr std::size_t sweep_at_least = 64;

std::uintptr_t begin_of(const access_range& range) noexcept {
  return reinterpret_cast<std::uintptr_t>(range.base);
}

std::uintptr_t end_of(const access_range& range) noexcept { return begin_of(range) + range.bytes; }

// Ascending, each once; data counts if any of them says so.
void unite(std::vector<dependency_book::dependency>& all) {
  if (all.size() < 2) return;
  std::ranges::sort(all, [](const auto& a, const auto& b) {
    return a.on != b.on ? a.on < b.on : a.data > b.data;
  });
  const auto same = [](const auto& a, const auto& b) { return a.on == b.on; };
  all.erase(std::unique(all.begin(), all.end(), same), all.end());
}

} // namespace

dependency_book::piece_map::const_iterator dependency_book::first_touching(
    std::uintptr_t begin) const {
  auto at = pieces_.upper_bound(begin);
  if (at != pieces_.begin() && std::prev(at)->second.end > begin) --at;
  return at;
}

std::vector<dependency_book::dependency> dependency_book::dependencies_of(
    std::span<const access_range> ranges) const {
  std::vector<dependency> found;
  for (const auto& range : ranges) {
    const bool reads = range.mode == access_mode::read;
    for (auto at = first_touching(begin_of(range));
         at != pieces_.end() && at->first < end_of(range); ++at) {
      const auto& [end, writer, readers] = at->second;
      if (lives(writer) || (reads && spoiled_.contains(writer))) found.push_back({writer, reads});
      if (reads) continue;
      for (const auto reader : readers) {
        if (lives(reader)) found.push_back({reader, false});
      }
    }
  }
  unite(found);
  return found;
}

void dependency_book::add(node added, std::span<const access_range> ranges) {
  Expects(added > settled_);
  for (const auto mode : {access_mode::read, access_mode::write}) {
    for (const auto& range : ranges) {
      if (range.mode != mode || range.bytes == 0) continue;
      if (mode == access_mode::read) {
        enter_read(added, begin_of(range), end_of(range));
      } else {
        enter_write(added, begin_of(range), end_of(range));
      }
    }
  }
  if (pieces_.size() >= sweep_at_) sweep();
}

void dependency_book::settle(node last) { settled_ = std::max(settled_, last); }

void dependency_book::forget(node which, const access_range& range) {
  split_at(begin_of(range));
  split_at(end_of(range));
  for (auto at = pieces_.lower_bound(begin_of(range));
       at != pieces_.end() && at->first < end_of(range); ++at) {
    if (at->second.writer == which) at->second.writer = 0;
  }
}

void dependency_book::split_at(std::uintptr_t place) {
  auto at = pieces_.lower_bound(place);
  if (at == pieces_.begin()) return;
  --at;
  if (at->second.end <= place) return;
  auto right = at->second;
  at->second.end = place;
  pieces_.emplace_hint(std::next(at), place, std::move(right));
}

void dependency_book::enter_read(node reader, std::uintptr_t begin, std::uintptr_t end) {
  split_at(begin);
  split_at(end);
  auto at = pieces_.lower_bound(begin);
  for (auto place = begin; place < end; ++at) {
    if (at == pieces_.end() || at->first > place) { // nobody has used what lies before `at`
      const auto until = at == pieces_.end() ? end : std::min(end, at->first);
      at = pieces_.emplace_hint(at, place, piece{until, 0, {}});
    }
    auto& readers = at->second.readers;
    if (readers.empty() || readers.back() != reader) {
      std::erase_if(readers, [this](node each) { return !lives(each); });
      readers.push_back(reader);
    }
    place = at->second.end;
  }
}

void dependency_book::enter_write(node writer, std::uintptr_t begin, std::uintptr_t end) {
  split_at(begin);
  split_at(end);
  auto at = pieces_.lower_bound(begin);
  if (at == pieces_.end() || at->first != begin) {
    at = pieces_.emplace_hint(at, begin, piece{end, 0, {}});
  }
  at->second.writer = writer;
  at->second.readers.clear();
  at->second.end = end;
  pieces_.erase(std::next(at), pieces_.lower_bound(end));
}

// Forgets pieces that nobody needs to know of any more. The next sweep comes when there are twice
// as many as stay, so that one costs little for each node.
void dependency_book::sweep() {
  std::set<node> still_read;
  for (auto at = pieces_.begin(); at != pieces_.end();) {
    const auto& [end, writer, readers] = at->second;
    if (spoiled_.contains(writer)) still_read.insert(writer);
    const bool needed = lives(writer) || spoiled_.contains(writer) ||
                        std::ranges::any_of(readers, [this](node each) { return lives(each); });
    at = needed ? std::next(at) : pieces_.erase(at);
  }
  spoiled_ = std::move(still_read);
  sweep_at_ = std::max(sweep_at_least, 2 * pieces_.size());
}

} // namespace troupe
