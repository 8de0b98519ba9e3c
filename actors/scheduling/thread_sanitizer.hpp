#pragma once

/// ThreadSanitizer cannot see the order that CAF's mailboxes give, as Debian's libcaf is not
/// instrumented. Our actors announce it: a sender releases the actor, its turn acquires it.
/// A blanket suppression would hide every real race, since CAF is in every stack.

#if defined(__SANITIZE_THREAD__)
#define TROUPE_THREAD_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define TROUPE_THREAD_SANITIZER 1
#endif
#endif

#ifdef TROUPE_THREAD_SANITIZER
extern "C" {
void __tsan_acquire(void* address);
void __tsan_release(void* address);
}
#endif

namespace troupe {

#ifdef TROUPE_THREAD_SANITIZER
inline constexpr bool under_thread_sanitizer = true;
#else
inline constexpr bool under_thread_sanitizer = false;
#endif

/// What was done before a release of `address` is visible after its acquire.
inline void announce_release([[maybe_unused]] void* address) noexcept {
#ifdef TROUPE_THREAD_SANITIZER
  __tsan_release(address);
#endif
}

inline void announce_acquire([[maybe_unused]] void* address) noexcept {
#ifdef TROUPE_THREAD_SANITIZER
  __tsan_acquire(address);
#endif
}

} // namespace troupe
