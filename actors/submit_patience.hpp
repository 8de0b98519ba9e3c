#pragma once

#include <algorithm>

namespace troupe {

/// While one exists, submissions of the calling thread wait at most so long for room where option
/// `submit_timeout_ms` would let them wait longer: for callers who look after something else now
/// and then, such as keys that a user presses, and try again. What such a submission fails with
/// says what the option says. The innermost counts.
class submit_patience {
public:
  explicit submit_patience(unsigned milliseconds) noexcept : outer_(current), most_(milliseconds) {
    current = this;
  }
  ~submit_patience() { current = outer_; }
  submit_patience(const submit_patience&) = delete;
  submit_patience& operator=(const submit_patience&) = delete;

  /// How long the calling thread waits where the option allows `milliseconds`.
  [[nodiscard]] static unsigned within(unsigned milliseconds) noexcept {
    return current == nullptr ? milliseconds : std::min(milliseconds, current->most_);
  }

private:
  static constinit thread_local const submit_patience* current;

  const submit_patience* const outer_;
  const unsigned most_;
};

} // namespace troupe
