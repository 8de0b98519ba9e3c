#include "actors/command_queue.hpp"

#include <algorithm>
#include <new>

#include <gsl/gsl>

namespace troupe {

struct command_queue::ring {
  ring(std::size_t size, std::uint64_t from)
      : mask(size - 1), first(from),
        slots(static_cast<command*>(
            ::operator new(size * sizeof(command), std::align_val_t{alignof(command)}))) {
    Expects((size & mask) == 0);
  }
  ~ring() { ::operator delete(slots, std::align_val_t{alignof(command)}); }
  ring(const ring&) = delete;
  ring& operator=(const ring&) = delete;

  [[nodiscard]] std::size_t capacity() const noexcept { return mask + 1; }
  [[nodiscard]] command* slot(std::uint64_t number) const noexcept {
    return slots + (number & mask);
  }

  const std::size_t mask;
  const std::uint64_t first;
  command* const slots;
  // Number of the last command in this ring, set when the next ring is opened. Whoever handles a
  // later number has seen it, as it was written before that number was published.
  std::atomic<std::uint64_t> last = UINT64_MAX;
  std::atomic<ring*> next = nullptr;
};

command_queue::~command_queue() {
  while (popped_ + 1 < next_) pop(popped_ + 1);
  free_rings();
}

bool command_queue::full(std::uint64_t completed) const noexcept {
  if (tail_ == nullptr) return true;
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
  const auto size = tail_ == nullptr ? capacity_min : tail_->capacity() * 2;
  auto fresh = std::make_unique<ring>(size, next_);
  storage_.fetch_add(size * sizeof(command), std::memory_order_relaxed);
  if (tail_ == nullptr) {
    head_.store(fresh.get(), std::memory_order_release);
  } else {
    tail_->next.store(fresh.get(), std::memory_order_relaxed);
    tail_->last.store(next_ - 1, std::memory_order_relaxed);
  }
  tail_ = fresh.release();
}

bool command_queue::seal(std::uint64_t last) {
  if (tail_ == nullptr || last < first_) return false;
  auto open = UINT64_MAX;
  return last_.compare_exchange_strong(open, last, std::memory_order_acq_rel);
}

void command_queue::clear_storage() {
  if (popped_ + 1 != next_) return;
  free_rings();
  head_.store(nullptr, std::memory_order_relaxed);
  tail_ = nullptr;
  storage_.store(0, std::memory_order_relaxed);
}

void command_queue::free_rings() noexcept {
  for (auto* each = head_.load(std::memory_order_relaxed); each != nullptr;) {
    auto* following = each->next.load(std::memory_order_relaxed);
    delete each;
    each = following;
  }
}

std::size_t command_queue::storage_bytes() const noexcept {
  return storage_.load(std::memory_order_relaxed);
}

void command_queue::prefetch(std::uint64_t number) const noexcept {
  __builtin_prefetch(head_.load(std::memory_order_relaxed)->slot(number));
}

command& command_queue::at(std::uint64_t number) {
  auto* current = head_.load(std::memory_order_relaxed);
  while (current->last.load(std::memory_order_relaxed) < number) {
    auto* following = current->next.load(std::memory_order_relaxed);
    storage_.fetch_sub(current->capacity() * sizeof(command), std::memory_order_relaxed);
    delete current;
    head_.store(following, std::memory_order_relaxed);
    current = following;
  }
  return *std::launder(current->slot(number));
}

} // namespace troupe
