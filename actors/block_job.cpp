#include "actors/block_job.hpp"

#include <exception>
#include <string>

namespace troupe {

status invoke_guarded(command& c, const block& b, code fallback) {
  try {
    return c.op->invoke(c.payload(), b);
  } catch (const error& e) {
    if (!e.outcome().ok()) return e.outcome();
    return make_status(fallback, std::string("'") + c.name +
                                     "' threw an error whose code is success: " + e.what());
  } catch (const std::exception& e) {
    const auto* text = e.what() != nullptr ? e.what() : "an exception without a text";
    return make_status(fallback, std::string("'") + c.name + "' threw: " + text);
  } catch (...) {
    return make_status(fallback, std::string("'") + c.name + "' threw something unknown");
  }
}

status block_job::run_as_owner() {
  take_blocks();
  std::unique_lock lock(guard_);
  owner_waits_ = true;
  if (helpers_ != 0) {
    lock.unlock();
    helpers_left_.block_until(never_ns);
    lock.lock();
  }
  return first_failure_;
}

bool block_job::run_as_helper() {
  const user_scope inside(inside_);
  {
    const std::lock_guard lock(guard_);
    if (given_up_) return false;
    ++helpers_;
  }
  take_blocks();
  bool last = false;
  bool given_up = false;
  {
    const std::lock_guard lock(guard_);
    last = --helpers_ == 0 && owner_waits_;
    given_up = given_up_;
  }
  if (last) helpers_left_.set();
  return given_up;
}

std::size_t block_job::give_up() {
  next_.store(count_, std::memory_order_seq_cst); // engines need not take it from the port any more
  const std::lock_guard lock(guard_);
  given_up_ = true;
  return helpers_;
}

// The launch is touched only with a block in hand: while one is out, the owner waits.
void block_job::take_blocks() {
  for (;;) {
    const auto index = next_.fetch_add(1, std::memory_order_seq_cst);
    if (index >= count_) break;
    if (failed_.load(std::memory_order_relaxed) || stop_.requested()) {
      next_.store(count_, std::memory_order_seq_cst);
      break;
    }
    const auto taken = static_cast<std::uint32_t>(index);
    auto outcome = invoke_guarded(*launch_, {taken, count_, stop_}, code::kernel_exception);
    if (outcome.ok()) continue;
    failed_.store(true, std::memory_order_relaxed);
    const std::lock_guard lock(guard_);
    if (first_failure_.ok()) first_failure_ = std::move(outcome);
  }
}

} // namespace troupe
