#include "actors/pool_record.hpp"

#include <algorithm>
#include <bit>
#include <string>

#include <gsl/gsl>

#include "actors/machine.hpp"
#include "actors/simulation/witness.hpp"

namespace troupe {

// Four classes to each power of two: at most a quarter is lost to rounding, and a freed block fits
// the next request of about its size.
std::uint64_t pool_record::size_class(std::uint64_t bytes) {
  static constexpr std::uint64_t least = 512;
  if (bytes <= least) return least;
  const auto step = std::max(least, std::bit_floor(bytes - 1) / 4);
  if (bytes > UINT64_MAX - (step - 1)) return UINT64_MAX; // no memory is that large
  return (bytes + step - 1) / step * step;
}

pool_record::pool_record(std::shared_ptr<context_record> context, const pool_options& options)
    : context_(std::move(context)), options_(options),
      seen_(context_ ? context_->home().seen() : nullptr),
      checker_(context_ ? context_->device().memory->checker() : nullptr) {
  if (context_ && options_.follow_events) context_->keep_waits();
}

std::uint64_t pool_record::slab_bytes_for(std::uint64_t bytes) const {
  return std::max(slab_bytes_min, size_class(bytes + spare_bytes()));
}

std::optional<pool_record::piece> pool_record::take(std::uint64_t bytes, const timeline& line) {
  Expects(bytes > 0);
  const auto size = size_class(bytes + spare_bytes());
  const std::lock_guard lock(guard_);
  if (given_up_) return std::nullopt;
  if (auto* place = find_free(size, line)) {
    take_off_shelf(*place);
    ++counters_.reused;
    return hand_out(*place, bytes, line);
  }
  if (fresh_bytes_ < size && !(options_.opportunistic && divide_anew(size))) return std::nullopt;
  return hand_out(*cut_fresh(size), bytes, line);
}

// Newest first, which are warm and often of this stream; then the oldest, whose work ends first.
// All of them before the pool grows: else what has become free in the middle would be lost.
pool_record::cut* pool_record::find_free(std::uint64_t size, const timeline& line) const {
  const auto found = free_.find(size);
  if (found == free_.end()) return nullptr;
  const auto& all = found->second;
  const auto first_usable = [&](auto from, std::size_t at_most) -> cut* {
    for (; at_most > 0; --at_most, ++from) {
      if (usable(**from, line)) return *from;
    }
    return nullptr;
  };
  const auto few = std::min(all.size(), search_max);
  // In checked mode a block rests, so that late writes to it are found.
  auto* place = checker_ == nullptr ? first_usable(all.rbegin(), few) : nullptr;
  if (place != nullptr) return place;
  return first_usable(all.begin(), fresh_bytes_ < size ? all.size() : few);
}

// Whether `line` comes after `work` by its waits.
bool pool_record::follows(const timeline& line, const ticket& work) const {
  return options_.follow_events && context_ != nullptr && context_->waits().comes_after(line, work);
}

// Whether what is submitted to `line` from now on may touch what `work` does.
bool pool_record::free_for(const ticket& work, const timeline& line) const {
  return work.line.get() == &line || (options_.opportunistic && work.ended()) ||
         follows(line, work);
}

// Whether a free block may be handed out to `line`. The order of the looks matters: who is given up
// on counts as a stray before its number ends.
bool pool_record::usable(const cut& place, const timeline& line) const {
  const auto free = [&](const ticket& each) { return free_for(each, line); };
  if (place.others && !std::all_of(place.others->begin(), place.others->end(), free)) return false;
  if (!free(place.after)) return false;
  const auto& [own, last] = place.after;
  if (own->completed() < last) {
    if (checker_ != nullptr) return false; // nobody writes patterns under work in flight
    const auto mark = own->aborted();
    if (place.since < mark && own->completed() < mark) return false;
  }
  if (checker_ != nullptr && place.others && !all_ended(*place.others)) return false;
  return !own->has_stray(place.since, last);
}

// Whether nothing may touch a free block any more.
bool pool_record::over(const cut& place) {
  if (place.others && !all_ended(*place.others)) return false;
  const auto& [own, last] = place.after;
  return own->completed() >= last && !own->has_stray(place.since, last);
}

// One entry for each stream, which covers all that is known of it.
void pool_record::add_earlier(std::vector<earlier>& all, earlier one) {
  const auto known = std::find_if(all.begin(), all.end(), [&one](const earlier& each) {
    return each.work.line == one.work.line;
  });
  if (known == all.end()) return all.push_back(std::move(one));
  known->work.number = std::max(known->work.number, one.work.number);
  known->since = std::min(known->since, one.since);
}

pool_record::piece pool_record::hand_out(cut& place, std::uint64_t bytes, const timeline& line) {
  ++counters_.allocations;
  counters_.used += place.size;
  counters_.used_high_water = std::max(counters_.used_high_water, counters_.used);
  ++place.part_of->in_use;
  place.part_of->untouched = false;
  std::erase_if(place.before, [](const earlier& each) { return each.over(); });
  const bool at_work = place.after.line && !over(place);
  if (at_work) add_earlier(place.before, {place.after, place.since});
  bool followed = at_work && place.after.line.get() != &line;
  if (!at_work || place.after.line.get() != &line) place.since = line.submitted();
  if (place.others) {
    for (auto& each : *place.others) {
      if (each.ended()) continue;
      followed = followed || each.line.get() != &line;
      add_earlier(place.before, {std::move(each), 0});
    }
  }
  if (followed) {
    ++counters_.followed;
    if (context_) context_->note_followed();
  }
  place.after = {};
  place.others.reset();
  place.requested = bytes;
  place.user = &line;
  place.used_on.store(reach::own_stream, std::memory_order_relaxed);
  if (checker_ != nullptr) [[unlikely]] {
    checker_->hand_out(place.data, place.size, bytes, context_->id());
  }
  if (seen_ != nullptr) [[unlikely]] {
    std::vector<work_ranges::part> behind{{line.id()}};
    for (const auto& each : place.before) {
      if (follows(line, each.work)) behind.push_back({each.work.line->id(), each.work.number});
    }
    seen_->handed_out(place.data, place.size, behind);
  }
  return {place.data, bytes, &place};
}

pool_record::cut* pool_record::cut_fresh(std::uint64_t size) {
  auto& made = cuts_[fresh_];
  made.data = fresh_;
  made.size = size;
  made.part_of = fresh_slab_;
  made.lies_on = &free_[size];
  fresh_ += size;
  fresh_bytes_ -= size;
  return &made;
}

void pool_record::put_on_shelf(cut& place) {
  if (spare_.empty()) spare_.emplace_back();
  place.at = spare_.begin();
  *place.at = &place;
  place.lies_on->splice(place.lies_on->end(), spare_, place.at);
}

void pool_record::take_off_shelf(cut& place) {
  spare_.splice(spare_.begin(), *place.lies_on, place.at);
}

void pool_record::put_back(const piece& block, ticket after, frontier others) {
  auto kept = others.empty() ? nullptr : std::make_unique<frontier>(std::move(others));
  const std::lock_guard lock(guard_);
  auto& place = *block.place;
  if (after.line.get() != place.user) {
    place.since = 0; // counted in another stream until now
    place.user = after.line.get();
  }
  counters_.used -= place.size;
  --place.part_of->in_use;
  place.requested = 0;
  place.after = std::move(after);
  place.others = std::move(kept);
  put_on_shelf(place);
  if (checker_ != nullptr && over(place)) {
    checker_->take_back(place.data, place.size, context_->id());
  }
  look_for_surplus(*place.part_of);
}

// The stream's own are left out: there the order of submission is enough.
frontier pool_record::uses_elsewhere(const piece& block, const timeline& line) const {
  const bool at_home = block.place->user == &line;
  if (at_home && uses_of(block) == reach::own_stream) return {};
  auto others = context_->outstanding();
  std::erase_if(others, [&](const ticket& each) { return each.line.get() == &line; });
  return others;
}

std::optional<subdivision::part> pool_record::use_part(const std::byte* address,
                                                       const timeline* user) {
  const std::lock_guard lock(guard_);
  const auto above = cuts_.upper_bound(address);
  if (above == cuts_.begin()) return std::nullopt;
  const auto at = std::prev(above);
  const auto before = static_cast<std::uint64_t>(address - at->first);
  if (before >= at->second.size) return std::nullopt;
  auto& found = at->second;
  const bool in_use = found.requested != 0;
  if (in_use && user != nullptr && user != found.user) {
    found.used_on.store(reach::other_streams, std::memory_order_relaxed);
  }
  part seen{found.data, found.requested, in_use};
  for (const auto& each : found.before) {
    seen.contested = seen.contested || each.contests();
    seen.early = seen.early || (each.work.line.get() != found.user && !each.work.ended());
  }
  return seen;
}

// The rest of the slab before is kept as free blocks, so that nothing is lost by growing.
bool pool_record::add_slab(const memory_block& memory) {
  const std::lock_guard lock(guard_);
  if (given_up_) return false;
  shelve_fresh();
  fresh_slab_ = &slabs_.emplace_back(slab{memory});
  fresh_ = memory.data;
  fresh_bytes_ = memory.bytes;
  counters_.reserved += memory.bytes;
  if (counters_.reserved > options_.release_threshold_bytes && context_) context_->note_surplus();
  counters_.reserved_high_water = std::max(counters_.reserved_high_water, counters_.reserved);
  ++counters_.grown;
  return true;
}

void pool_record::shelve_fresh() {
  static const auto no_work = std::make_shared<timeline>(0);
  while (fresh_bytes_ >= size_class(1)) {
    auto size = size_class(1);
    while (size_class(size + 1) <= fresh_bytes_) size = size_class(size + 1);
    auto* place = cut_fresh(size);
    place->after = {no_work, 0};
    put_on_shelf(*place);
  }
}

// -- slabs of which nothing is used -------------------------------------------

bool pool_record::idle(const slab& each) const {
  if (each.in_use != 0) return false;
  const auto* end = each.memory.data + each.memory.bytes;
  for (auto at = cuts_.lower_bound(each.memory.data); at != cuts_.end() && at->first < end; ++at) {
    if (!over(at->second)) return false;
  }
  return true;
}

void pool_record::forget_cuts(const slab& each) {
  const auto first = cuts_.lower_bound(each.memory.data);
  const auto last = cuts_.lower_bound(each.memory.data + each.memory.bytes);
  if (checker_ != nullptr) checker_->forget(each.memory.data, each.memory.bytes);
  for (auto at = first; at != last; ++at) take_off_shelf(at->second);
  cuts_.erase(first, last);
  if (fresh_slab_ == &each) fresh_bytes_ = 0;
}

// Makes room for a block of `size` in a slab of which nothing is used; false if there is none.
bool pool_record::divide_anew(std::uint64_t size) {
  const auto found = std::find_if(slabs_.begin(), slabs_.end(), [&](const slab& each) {
    return each.memory.bytes >= size && idle(each);
  });
  if (found == slabs_.end()) return false;
  forget_cuts(*found);
  shelve_fresh();
  fresh_slab_ = &*found;
  fresh_ = found->memory.data;
  fresh_bytes_ = found->memory.bytes;
  return true;
}

} // namespace troupe
