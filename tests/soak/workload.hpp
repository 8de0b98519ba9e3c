#pragma once

#include <atomic>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include <troupe/troupe.hpp>

namespace troupe::soak {

/// What clients have done and seen, all together.
struct tally {
  std::atomic<std::uint64_t> visits{0};   ///< a context made, worked in and left
  std::atomic<std::uint64_t> right{0};    ///< of these, ended well with the right bytes
  std::atomic<std::uint64_t> told{0};     ///< of these, ended with a code that tells of a fault
  std::atomic<std::uint64_t> wrong{0};    ///< wrong bytes with success, or a code that lies
  std::atomic<std::uint64_t> resets{0};   ///< devices reset
};

/// One client's visit: a context on a device drawn by chance, with streams, events, a pool and
/// pinned memory; chains of kernels and copies over them; an end of one of several kinds. Sometimes a
/// reset of the device, with whatever others do there. Checks all bytes of what is said to have
/// succeeded. Returns how long a launch with its wait took, in nanoseconds, or 0 if it failed.
///
/// Notes in `wrongs` what must not be.
class visitor {
public:
  visitor(const runtime& home, std::uint64_t seed, tally& count) : home_(home), draw_(seed), count_(count) {}

  [[nodiscard]] std::int64_t visit();

  /// What was wrong, for a human; at most 10 lines.
  [[nodiscard]] const std::vector<std::string>& wrongs() const noexcept { return wrongs_; }

private:
  [[nodiscard]] status work(const device& where, std::int64_t& launch_ns);
  [[nodiscard]] status chain(const context& here, const pool& memory, stream& first, stream& second);
  [[nodiscard]] status leave(const context& here, stream& first, stream& second);
  void judge(const status& outcome);
  void wrong(std::string what);
  [[nodiscard]] unsigned below(unsigned end);

  const runtime& home_;
  std::mt19937_64 draw_;
  tally& count_;
  std::vector<std::string> wrongs_;
};

} // namespace troupe::soak
