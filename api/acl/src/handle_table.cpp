#include "api/acl/src/handle_table.hpp"

#include <bit>
#include <utility>

#include "api/acl/src/for_good.hpp"

namespace troupe::acl {
namespace {

// From low to high: the kind, so that a handle moved by a few bytes is none; the place; the uses.
constexpr unsigned kind_bits = 4;
constexpr unsigned place_bits = 20;

std::uint64_t encode(handle_kind kind, std::size_t place, std::uint64_t uses) {
  return uses << (kind_bits + place_bits) | std::uint64_t{place} << kind_bits |
         static_cast<std::uint64_t>(kind);
}

std::uint64_t value_of(const void* handle) {
  return std::bit_cast<std::uint64_t>(handle);
}

bool is_of(handle_kind kind, std::uint64_t value) {
  return (value & ((1U << kind_bits) - 1)) == static_cast<std::uint64_t>(kind);
}

// What this thread looked up last, by kind: the same handle serves again without a lock.
struct last_look {
  std::uint64_t value = 0;
  const std::atomic<std::uint64_t>* valid = nullptr;  // the value of its place, as long as it is
  std::shared_ptr<void> object;
};
// Once the thread's objects have been destroyed it has none any more.
constinit thread_local bool over = false;
struct looks {
  std::array<last_look, 1U << kind_bits> by_kind;

  constexpr looks() = default;
  ~looks() { over = true; }
  looks(const looks&) = delete;
  looks& operator=(const looks&) = delete;
};
constinit thread_local looks last_looks;

}  // namespace

handle_table& handle_table::instance() {
  return for_good<handle_table>();
}

handle_table::entry* handle_table::entry_of(std::uint64_t value) const {
  const auto place = (value >> kind_bits) & ((1U << place_bits) - 1);
  auto* const found = chunks_[place / chunk_entries].load(std::memory_order_acquire);
  return found != nullptr ? &(*found)[place % chunk_entries] : nullptr;
}

void* handle_table::add(handle_kind kind, std::shared_ptr<void> object) {
  const std::lock_guard lock(guard_);
  std::size_t place = used_;
  if (!free_.empty()) {
    place = free_.back();
    free_.pop_back();
  } else if (used_ == chunk_entries * chunks_max) {
    return nullptr;
  } else {
    if (used_ % chunk_entries == 0) {
      chunks_[used_ / chunk_entries].store(new chunk, std::memory_order_release);
    }
    ++used_;
  }
  auto& at = (*chunks_[place / chunk_entries].load())[place % chunk_entries];
  at.object = std::move(object);
  const auto value = encode(kind, place, ++at.uses);
  at.value.store(value, std::memory_order_release);
  if (noted_) noted_->push_back(value);
  return std::bit_cast<void*>(value);
}

std::shared_ptr<void> handle_table::find(handle_kind kind, void* handle) const {
  const auto value = value_of(handle);
  if (!is_of(kind, value)) return nullptr;
  auto* const at = entry_of(value);
  if (at == nullptr) return nullptr;
  const std::lock_guard lock(guard_);
  return at->value.load(std::memory_order_relaxed) == value ? at->object : nullptr;
}

void* handle_table::look(handle_kind kind, void* handle) const {
  const auto value = value_of(handle);
  if (!is_of(kind, value)) return nullptr;
  if (over) [[unlikely]]
    return look_late(kind, handle);
  auto& last = last_looks.by_kind[static_cast<std::size_t>(kind)];
  if (last.value == value && last.valid->load(std::memory_order_acquire) == value) {
    return last.object.get();
  }
  auto found = find(kind, handle);
  last = {found ? value : 0, found ? &entry_of(value)->value : nullptr, std::move(found)};
  return last.object.get();
}

// For destructors of the last objects of a thread: what they look up is kept for good.
void* handle_table::look_late(handle_kind kind, void* handle) const {
  auto found = find(kind, handle);
  const std::lock_guard lock(guard_);
  late_.push_back(found);
  return found.get();
}

std::shared_ptr<void> handle_table::remove(handle_kind kind, void* handle) {
  const auto value = value_of(handle);
  if (!is_of(kind, value)) return nullptr;
  const std::lock_guard lock(guard_);
  return take_out(value);
}

// Under the lock.
std::shared_ptr<void> handle_table::take_out(std::uint64_t value) {
  auto* const at = entry_of(value);
  if (at == nullptr || at->value.load(std::memory_order_relaxed) != value) return nullptr;
  at->value.store(0, std::memory_order_release);
  free_.push_back((value >> kind_bits) & ((1U << place_bits) - 1));
  return std::exchange(at->object, nullptr);
}

void handle_table::note_new() {
  const std::lock_guard lock(guard_);
  noted_.emplace();
}

// What an object ends with may remove handles itself.
void handle_table::remove_noted() {
  std::vector<std::shared_ptr<void>> ended;
  const std::lock_guard lock(guard_);
  const auto noted = std::exchange(noted_, std::nullopt);
  if (!noted) return;
  for (const auto each : *noted) {
    if (auto object = take_out(each)) ended.push_back(std::move(object));
  }
}

}  // namespace troupe::acl
