#include "actors/faults/owed_account.hpp"

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <utility>

#include "actors/faults/environment.hpp"
#include "actors/process.hpp"

namespace troupe {

// No lock: a child may be forked, and a process ended, while another thread is at it. Whoever turns
// `is_owed` into `is_taken` has the account to itself.
struct owed_account {
  enum state : unsigned char { is_free, is_taken, is_owed };

  std::atomic<state> now = is_taken;
  std::shared_ptr<const fault_injector> by;
  std::uint32_t process = 0; // its `fork_generation`
  owed_account* next = nullptr;

  bool take(state from) { return now.compare_exchange_strong(from, is_taken); }
};

namespace {

constinit std::atomic<owed_account*> newest = nullptr; // accounts are used again, never deleted

owed_account& place() {
  for (auto* each = newest.load(); each != nullptr; each = each->next) {
    if (each->take(owed_account::is_free)) return *each;
  }
  auto* made = new owed_account;
  made->next = newest.load();
  while (!newest.compare_exchange_weak(made->next, made)) {
  }
  return *made;
}

// Not in a forked child, where the account is its parent's to give.
bool tell(owed_account& owed) {
  if (!owed.take(owed_account::is_owed) || owed.process != fork_generation()) return false;
  tell_faults(owed.by->report());
  return true;
}

void tell_all() {
  for (auto* each = newest.load(); each != nullptr; each = each->next) (void)tell(*each);
}

} // namespace

owed_account& owe_account(std::shared_ptr<const fault_injector> by) {
  [[maybe_unused]] static const int registered = std::atexit(&tell_all);
  auto& made = place();
  made.by = std::move(by);
  made.process = fork_generation();
  made.now.store(owed_account::is_owed);
  return made;
}

void settle(owed_account& owed) {
  if (!tell(owed)) return;
  owed.by.reset();
  owed.now.store(owed_account::is_free);
}

} // namespace troupe
