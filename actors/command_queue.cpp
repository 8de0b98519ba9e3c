#include "actors/command_queue.hpp"

#include <algorithm>
#include <new>

#include <gsl/gsl>

namespace troupe {

namespace {

command* allocate_slots(std::size_t count) {
  return static_cast<command*>(
      ::operator new(count * sizeof(command), std::align_val_t{alignof(command)}));
}

} // namespace

command_queue::command_queue(std::uint64_t first, std::uint64_t stream) noexcept
    : first_(first), next_(first), tail_(&small_), popped_(first - 1), head_(&small_),
      small_(capacity_min, first, reinterpret_cast<command*>(room_)), stream_(stream) {}

command_queue::~command_queue() {
  end_rest();
  free_rings();
}

void command_queue::end_rest() {
  while (popped_ + 1 < next_) pop(popped_ + 1);
}

bool command_queue::full(std::uint64_t completed) const noexcept {
  const auto oldest = std::max(tail_->first, completed + 1);
  return next_ - oldest >= tail_->capacity();
}

std::uint64_t command_queue::push(command&& c, std::uint64_t completed) {
  if (full(completed)) grow();
  const auto number = next_++;
  c.number = number;
  ::new (static_cast<void*>(tail_->slot(number))) command(std::move(c));
  return number;
}

void command_queue::grow() {
  const auto size = tail_->capacity() * 2;
  Expects((size & (size - 1)) == 0);
  auto fresh = std::make_unique<ring>(size, next_, nullptr);
  fresh->slots = allocate_slots(size);
  storage_.fetch_add(size * sizeof(command), std::memory_order_relaxed);
  tail_->next.store(fresh.get(), std::memory_order_relaxed);
  tail_->last.store(next_ - 1, std::memory_order_relaxed);
  tail_ = fresh.release();
}

bool command_queue::seal(std::uint64_t last) {
  if (next_ == first_ || last < first_) return false;
  auto open = UINT64_MAX;
  return last_.compare_exchange_strong(open, last, std::memory_order_acq_rel);
}

void command_queue::clear_storage() {
  if (popped_ + 1 != next_) return;
  free_rings();
  small_.first = next_;
  small_.last.store(UINT64_MAX, std::memory_order_relaxed);
  small_.next.store(nullptr, std::memory_order_relaxed);
  head_.store(&small_, std::memory_order_relaxed);
  tail_ = &small_;
}

void command_queue::free_ring(ring* each) noexcept {
  if (each == &small_) return;
  storage_.fetch_sub(each->capacity() * sizeof(command), std::memory_order_relaxed);
  ::operator delete(each->slots, std::align_val_t{alignof(command)});
  delete each;
}

void command_queue::free_rings() noexcept {
  for (auto* each = head_.load(std::memory_order_relaxed); each != nullptr;) {
    auto* following = each->next.load(std::memory_order_relaxed);
    free_ring(each);
    each = following;
  }
}

std::size_t command_queue::storage_bytes() const noexcept {
  return storage_.load(std::memory_order_relaxed);
}

void command_queue::prefetch(std::uint64_t number) const noexcept {
  __builtin_prefetch(head_.load(std::memory_order_relaxed)->slot(number));
}

const command& command_queue::look_at(std::uint64_t number) const {
  const auto* current = head_.load(std::memory_order_relaxed);
  while (current->last.load(std::memory_order_relaxed) < number) {
    current = current->next.load(std::memory_order_relaxed);
  }
  return *std::launder(current->slot(number));
}

command& command_queue::at(std::uint64_t number) {
  auto* current = head_.load(std::memory_order_relaxed);
  while (current->last.load(std::memory_order_relaxed) < number) {
    auto* following = current->next.load(std::memory_order_relaxed);
    free_ring(current);
    head_.store(following, std::memory_order_relaxed);
    current = following;
  }
  return *std::launder(current->slot(number));
}

} // namespace troupe
