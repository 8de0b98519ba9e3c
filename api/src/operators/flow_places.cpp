#include "api/src/operators/flow_places.hpp"

#include <algorithm>
#include <functional>
#include <utility>

#include "api/src/states.hpp"

namespace troupe::operators {
namespace {

constexpr std::size_t sweep_at_least = 64;

// Commands by which one queue is longer than another: about what copies to there and back cost.
constexpr std::uint64_t patience = 2;

bool same(const tensor& a, const tensor& b) {
  return a.bytes().data() == b.bytes().data() && a.bytes().size() == b.bytes().size();
}

bool overlap(const tensor& a, const tensor& b) {
  const std::less<const std::byte*> before;
  const auto end = [](const tensor& t) { return t.bytes().data() + t.bytes().size(); };
  return before(a.bytes().data(), end(b)) && before(b.bytes().data(), end(a));
}

access_range range_of(const tensor& of, access_mode mode) {
  return {of.bytes().data(), of.bytes().size(), mode};
}

} // namespace

std::optional<std::size_t> flow_places::of(const tensor& what) const {
  const auto owner = what.bytes().context_id();
  const auto found = std::ranges::find_if(
      all_, [owner](const auto& each) { return each.home.id() == owner; });
  if (found == all_.end()) return std::nullopt;
  return static_cast<std::size_t>(found - all_.begin());
}

// A node that writes a part of what it else touches sees each write in the other tensor: copies of
// both would not. It runs where they lie.
std::optional<std::size_t> flow_places::pinned_to(std::span<const tensor> reads,
                                                  std::span<const tensor> writes) const {
  for (const auto& written : writes) {
    const auto in_part = [&](const tensor& other) {
      return overlap(written, other) && !same(written, other);
    };
    if (std::ranges::any_of(reads, in_part) || std::ranges::any_of(writes, in_part)) {
      return of(written);
    }
  }
  return std::nullopt;
}

std::size_t flow_places::choose(std::span<const tensor> reads,
                                std::span<const tensor> writes) const {
  if (const auto fixed = pinned_to(reads, writes)) return *fixed;
  std::vector<place_offer> offers(size());
  for (std::size_t i = 0; i < size(); ++i) {
    std::vector<access_range> there;
    for (const auto& each : reads) {
      const auto& bytes = each.bytes();
      const auto copied = book_.find(bytes.data(), bytes.size(), i);
      if (!copied && of(each) != i) continue;
      offers[i].bytes += bytes.size();
      there.push_back(range_of(copied ? copies_.at(*copied).memory : each, access_mode::read));
    }
    offers[i].load = lanes_.queue_at(i, window_.before_of(there).all);
  }
  for (const auto& each : writes) offers[of(each).value()].bytes += each.bytes().size();
  return choose_place(offers, patience);
}

result<flow_places::seat> flow_places::find_seat(std::span<const tensor> reads,
                                                 std::span<const tensor> writes, call_site site) {
  seat made;
  made.given_reads = reads;
  made.given_writes = writes;
  if (size() == 1) return made;
  if (copies_.size() + promised_.size() >= sweep_at_) sweep();
  made.place = choose(reads, writes);
  const auto here = [&](const tensor& each) { return of(each) == made.place; };
  if (std::ranges::all_of(reads, here) && std::ranges::all_of(writes, here)) return made;
  made.moved = true;
  if (auto s = bring(made, site); !s.ok()) {
    abandon(made);
    return s;
  }
  return made;
}

// The lane is chosen by what is there already: behind the last node of a chain, as always.
std::size_t flow_places::lane_for(const seat& target) const {
  std::vector<access_range> ranges;
  for (std::size_t i = 0; i < target.moved_reads.size(); ++i) {
    const auto& there = target.moved_reads[i];
    ranges.push_back(range_of(there.empty() ? target.given_reads[i] : there, access_mode::read));
  }
  return lanes_.choose(window_.before_of(ranges).all, target.place);
}

status flow_places::bring(seat& target, call_site site) {
  for (const auto& each : target.given_reads) {
    const auto* there = of(each) == target.place ? &each : look_up(each, target.place);
    target.moved_reads.push_back(there != nullptr ? *there : tensor());
  }
  target.lane = lane_for(target);
  if (auto s = bring_reads(target, site); !s.ok()) return s;
  return bring_writes(target);
}

status flow_places::bring_reads(seat& target, call_site site) {
  const auto& given = target.given_reads;
  for (std::size_t i = 0; i < given.size(); ++i) {
    auto& there = target.moved_reads[i];
    if (!there.empty()) continue;
    const auto twice = std::ranges::find_if(
        given.first(i), [&](const tensor& other) { return same(given[i], other); });
    if (twice != given.begin() + static_cast<std::ptrdiff_t>(i)) {
      there = target.moved_reads[static_cast<std::size_t>(twice - given.begin())];
      continue;
    }
    auto memory = make_tensor(target.place, *target.lane, given[i].layout());
    if (!memory) return memory.error();
    auto maker = copy(given[i], memory.value(), *target.lane, site);
    if (!maker) return maker.error();
    there = memory.value();
    target.made.push_back(
        note(given[i], std::move(memory).value(), target.place, std::move(maker).value()));
  }
  return {};
}

// What is read as well is written where it is read.
status flow_places::bring_writes(seat& target) {
  const auto is_known = [&](std::span<const tensor> given, const std::vector<tensor>& moved,
                            const tensor& each) {
    const auto found = std::ranges::find_if(given, [&](const auto& o) { return same(each, o); });
    if (found == given.end()) return false;
    target.moved_writes.push_back(moved[static_cast<std::size_t>(found - given.begin())]);
    return true;
  };
  const auto& given = target.given_writes;
  for (std::size_t i = 0; i < given.size(); ++i) {
    if (is_known(target.given_reads, target.moved_reads, given[i])) continue;
    if (is_known(given.first(i), target.moved_writes, given[i])) continue;
    if (of(given[i]) == target.place) {
      target.moved_writes.push_back(given[i]);
      continue;
    }
    auto memory = make_tensor(target.place, *target.lane, given[i].layout());
    if (!memory) return memory.error();
    target.moved_writes.push_back(std::move(memory).value());
  }
  return {};
}

void flow_places::entered(const seat& from, const node_ptr& node, call_site site) {
  if (size() == 1) return;
  const auto& given = from.given_writes;
  for (std::size_t i = 0; i < given.size(); ++i) {
    const auto is_it = [&](const tensor& other) { return same(given[i], other); };
    if (std::ranges::any_of(given.first(i), is_it)) continue;
    for (const auto each : book_.written(given[i].bytes().data(), given[i].bytes().size())) {
      copies_.erase(each);
    }
    const auto& there = from.writes()[i];
    if (is_it(there)) continue;
    copy_back(there, given[i], node, site);
    (void)note(given[i], there, from.place, node);
  }
}

void flow_places::abandon(const seat& from) {
  for (const auto each : from.made) forget(each);
}

result<tensor> flow_places::make_tensor(std::size_t place, std::size_t lane,
                                        const tensor_layout& layout) {
  auto made = tensor::make(all_.at(place).memory, lanes_.at(lane), layout);
  if (made || size() == 1) return made;
  free_idle(place);
  return tensor::make(all_.at(place).memory, lanes_.at(lane), layout);
}

result<pool_buffer<std::byte>> flow_places::allocate(std::size_t place, std::size_t lane,
                                                     std::size_t bytes) {
  const auto& memory = all_.at(place).memory;
  auto made = memory.allocate<std::byte>(lanes_.at(lane), bytes);
  if (made || size() == 1) return made;
  free_idle(place);
  return memory.allocate<std::byte>(lanes_.at(lane), bytes);
}

result<flow_places::node_ptr> flow_places::copy(const tensor& from, const tensor& to,
                                                std::size_t lane, call_site site) {
  auto node = std::make_shared<flow_node>();
  node->name = "copy";
  node->moves = true;
  node->lane = lane;
  node->ranges = {range_of(from, access_mode::read), range_of(to, access_mode::write)};
  auto before = window_.before_of(node->ranges);
  node->inputs = std::move(before.data);
  if (auto s = lanes_.submit_copy(node, before.all, from, to, site); !s.ok()) return s;
  const auto* user = lanes_.at(lane).state().get();
  from.bytes().used_on(user);
  to.bytes().used_on(user);
  window_.add(node, {{from, to}, {}});
  return node;
}

// The node has been submitted: what it wrote is there, or nobody learns of the tensor's new value.
void flow_places::copy_back(const tensor& from, const tensor& to, const node_ptr& writer,
                            call_site site) {
  const auto made = copy(from, to, lanes_.choose({&writer, 1}, of(to).value()), site);
  if (made) return;
  auto refused = std::make_shared<flow_node>();
  refused->name = "copy";
  refused->moves = true;
  refused->lane = writer->lane;
  refused->end = writer->end;
  refused->reached = flow_node::stage::failed;
  refused->refusal = made.error();
  refused->inputs = {writer};
  refused->ranges = {range_of(to, access_mode::write)};
  window_.add(std::move(refused), {{from, to}, {}});
}

flow_places::copy_id flow_places::note(const tensor& original, tensor memory, std::size_t place,
                                       node_ptr maker) {
  const auto& bytes = original.bytes();
  const auto made = book_.add(bytes.data(), bytes.size(), place);
  copies_.emplace(made, copy_record{std::move(memory), std::move(maker), is_promised(original),
                                    bytes.keeper()});
  return made;
}

void flow_places::forget(copy_id which) {
  book_.forget(which);
  copies_.erase(which);
}

void flow_places::promise(const tensor& what) {
  if (size() == 1) return;
  if (const auto older = book_.mark_at(what.bytes().data())) promised_.erase(*older);
  promised_[book_.set_mark(what.bytes().data())] = what.bytes().keeper();
}

bool flow_places::is_promised(const tensor& what) const {
  const auto found = book_.mark_at(what.bytes().data());
  if (!found) return false;
  const auto owner = promised_.at(*found).lock();
  return owner && owner == what.bytes().keeper().lock();
}

// Whoever sees that all its users have ended may have written the original since; while one has not,
// nobody may.
bool flow_places::counts(const copy_record& which) const {
  const auto reached = which.maker->reached.load(std::memory_order_acquire);
  const bool over = which.maker->has_ended();
  if (over && reached != flow_node::stage::succeeded) return false;
  if (which.promised) return !which.owner.expired();
  if (!over) return true;
  const auto touches = range_of(which.memory, access_mode::write);
  const auto users = window_.before_of({&touches, 1}).all;
  return std::ranges::any_of(users, [](const auto& each) { return !each->has_ended(); });
}

const tensor* flow_places::look_up(const tensor& what, std::size_t place) {
  const auto found = book_.find(what.bytes().data(), what.bytes().size(), place);
  if (!found) return nullptr;
  const auto& known = copies_.at(*found);
  // Memory of one that has gone may be another's by now; of a view nobody can tell.
  const auto owner = known.owner.lock();
  if (owner && owner == what.bytes().keeper().lock() && counts(known)) return &known.memory;
  forget(*found);
  return nullptr;
}

void flow_places::sweep() {
  std::vector<copy_id> idle;
  for (const auto& [number, each] : copies_) {
    if (!counts(each)) idle.push_back(number);
  }
  for (const auto each : idle) forget(each);
  std::erase_if(promised_, [this](const auto& each) {
    if (!each.second.expired()) return false;
    book_.remove_mark(each.first);
    return true;
  });
  sweep_at_ = std::max(sweep_at_least, 2 * (copies_.size() + promised_.size()));
}

// Copies that are promised are let go as well: they can be made again.
void flow_places::free_idle(std::size_t place) {
  std::vector<copy_id> idle;
  for (const auto& [number, each] : copies_) {
    if (of(each.memory) != place) continue;
    const auto touches = range_of(each.memory, access_mode::write);
    const auto users = window_.before_of({&touches, 1}).all;
    if (std::ranges::all_of(users, [](const auto& user) { return user->has_ended(); })) {
      idle.push_back(number);
    }
  }
  for (const auto each : idle) forget(each);
  window_.conclude(); // nodes that have ended keep their memory till then
}

} // namespace troupe::operators
