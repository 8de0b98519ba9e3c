#include "actors/memory_checker.hpp"

#include <vector>

#include "actors/graphs/graph_replay.hpp"
#include "actors/machine.hpp"
#include "actors/memory_record.hpp"

namespace troupe {
namespace {

// Freed memory looked at after each command.
constexpr std::uint64_t freed_bytes_per_command = std::uint64_t{1} << 20;

std::string bytes_of(std::uint64_t count) {
  return std::to_string(count) + (count == 1 ? " byte" : " bytes");
}

std::string name_of(const memory_checker::user& by) {
  if (by.number == 0) return std::string("'") + by.task + "'";
  return "task " + std::to_string(by.number) + " '" + by.task + "' of stream " +
         std::to_string(by.stream);
}

std::vector<access_range> ranges_of(const command& c) {
  std::vector<access_range> all;
  const auto take = [](void* self, const access_range& range) {
    if (range.bytes != 0) static_cast<std::vector<access_range>*>(self)->push_back(range);
  };
  if (c.op != nullptr && c.op->ranges != nullptr) c.op->ranges(c.payload(), {take, &all});
  return all;
}

void use_range(const machine& home, const access_range& range, const memory_checker::user& by) {
  const auto* memory = home.locate(range.base).memory;
  if (memory == nullptr) return;
  if (auto* checker = memory->checker()) checker->use(range, by);
}

// A kernel reads before it writes; a copy does what it names in that order, piece by piece.
void use_all(const machine& home, const command& c, const memory_checker::user& by) {
  const auto all = ranges_of(c);
  if (is_copy(c.kind)) {
    for (const auto& each : all) use_range(home, each, by);
    return;
  }
  for (const auto mode : {access_mode::read, access_mode::write}) {
    for (const auto& each : all) {
      if (each.mode == mode) use_range(home, each, by);
    }
  }
}

template <class Visit>
void each_checker(machine& home, const Visit& visit) {
  for (std::uint32_t i = 0; i < home.device_count(); ++i) {
    if (!home.is_open(i)) continue;
    if (auto* checker = home.device_at(i).memory->checker()) visit(*checker);
  }
}

} // namespace

memory_checker::memory_checker(machine& home, std::string name, std::byte* base)
    : home_(home), name_(std::move(name)), base_(base), watch_(base) {}

std::uint64_t memory_checker::offset_of(const void* address) const noexcept {
  return static_cast<std::uint64_t>(static_cast<const std::byte*>(address) - base_);
}

// -- blocks -------------------------------------------------------------------

void memory_checker::hand_out(const std::byte* data, std::uint64_t size, std::uint64_t bytes,
                              std::uint64_t owner) {
  block_watch::findings found;
  const std::lock_guard lock(guard_);
  watch_.hand_out(offset_of(data), size, bytes, owner, found);
  tell(found, {}, "at an allocation");
}

void memory_checker::take_back(const std::byte* data, std::uint64_t size, std::uint64_t owner) {
  block_watch::findings found;
  const std::lock_guard lock(guard_);
  watch_.take_back(offset_of(data), size, owner, found);
  tell(found, {}, "at its release");
}

void memory_checker::forget(const std::byte* data, std::uint64_t size) {
  const std::lock_guard lock(guard_);
  watch_.forget(offset_of(data), size);
}

void memory_checker::clear() {
  const std::lock_guard lock(guard_);
  watch_.clear();
  resting_.clear();
  resting_bytes_ = 0;
  rests_.clear();
  rested_.clear();
}

bool memory_checker::rested(const std::byte* data, std::uint64_t size, std::uint64_t owner) {
  block_watch::findings found;
  const std::lock_guard lock(guard_);
  const auto offset = offset_of(data);
  if (rested_.erase(offset) != 0) return true;
  if (!rests_.insert(offset).second) return false;
  watch_.take_back(offset, size, owner, found);
  tell(found, {}, "at its release");
  resting_.emplace_back(offset, size);
  resting_bytes_ += size;
  while (resting_.size() > resting_blocks_max || resting_bytes_ > resting_bytes_max) {
    const auto [oldest, its_size] = resting_.front();
    resting_.pop_front();
    resting_bytes_ -= its_size;
    rests_.erase(oldest);
    rested_.insert(oldest);
  }
  return rested_.erase(offset) != 0; // larger than what may rest
}

void memory_checker::end_rest() {
  const std::lock_guard lock(guard_);
  for (const auto& [offset, size] : resting_) rested_.insert(offset);
  resting_.clear();
  rests_.clear();
  resting_bytes_ = 0;
}

// -- uses ---------------------------------------------------------------------

void memory_checker::use(const access_range& range, const user& by) {
  block_watch::findings found;
  const std::lock_guard lock(guard_);
  if (range.mode == access_mode::read) {
    watch_.read(offset_of(range.base), range.bytes, found);
  } else {
    watch_.write(offset_of(range.base), range.bytes, found);
  }
  tell(found, by, "");
}

void memory_checker::verify(std::uint64_t freed_bytes, const user& after) {
  block_watch::findings found;
  const std::lock_guard lock(guard_);
  watch_.verify(freed_bytes, found);
  tell(found, after, "by the time of a look");
}

// -- reports ------------------------------------------------------------------

std::string memory_checker::describe(const memory_misuse& each, const user& by,
                                     const char* when) const {
  using kind = memory_misuse::kind;
  const auto block = "the block of " + bytes_of(each.block_bytes) + " at offset " +
                     std::to_string(each.block) + " of the " + name_ + ", of context " +
                     std::to_string(each.owner);
  const auto at = ", from byte " + std::to_string(each.at) + " of it on";
  if (each.found_written) {
    const auto after = by.task != nullptr ? "after " + name_of(by) : std::string(when);
    const auto next = each.next == 0 ? std::string()
                                     : ", in front of the block at offset " +
                                           std::to_string(each.next);
    return after + ", " + bytes_of(each.bytes) +
           (each.what == kind::used_after_free ? " of " + block + ", which has been freed,"
                                               : " behind the end of " + block) +
           " are found written" + at + next;
  }
  switch (each.what) {
    case kind::read_before_write:
      return name_of(by) + " reads " + bytes_of(each.bytes) + " of " + block +
             " that nothing has written" + at;
    case kind::out_of_bounds:
      return name_of(by) + " uses " + bytes_of(each.bytes) + " behind the end of " + block + at;
    case kind::used_after_free: break;
  }
  return name_of(by) + " uses " + bytes_of(each.bytes) + " of " + block +
         ", which has been freed" + at;
}

void memory_checker::tell(const block_watch::findings& found, const user& by,
                          const char* when) const {
  for (const auto& each : found) {
    auto what = diagnostic::kind::used_after_free;
    if (each.what == memory_misuse::kind::read_before_write) {
      what = diagnostic::kind::read_before_write;
    } else if (each.what == memory_misuse::kind::out_of_bounds) {
      what = diagnostic::kind::out_of_bounds;
    }
    home_.note({what, by.stream, describe(each, by, when)});
  }
}

// -- commands -----------------------------------------------------------------

// The steps of a graph in the order of its plan, as a later one may read what an earlier one writes.
void check_uses(machine& home, const command& c, std::uint64_t stream) {
  if (is_graph(c)) {
    for (const auto& step : c.as<graph_payload>().replay->plan().steps()) {
      use_all(home, step, {step.name, c.number, stream});
    }
  } else {
    use_all(home, c, {c.name, c.number, stream});
  }
  each_checker(home, [&](memory_checker& each) {
    each.verify(freed_bytes_per_command, {c.name, c.number, stream});
  });
}

void check_all(machine& home) {
  each_checker(home, [](memory_checker& each) { each.verify(UINT64_MAX, {}); });
}

} // namespace troupe
