#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <random>
#include <string>
#include <vector>

#include "tests/stress/rounds.hpp"

namespace troupe {

/// What must be true of one stream, told by a model that runs beside it: commands are numbered in
/// the order of submission, and each looks at what the one before it left.
///
/// The fields that commands touch are plain on purpose: if the runtime did not order them,
/// ThreadSanitizer would say so.
struct modelled_stream {
  enum class life : unsigned char {
    calm,   ///< nobody aborts it: every command runs
    faulty, ///< as calm, and some of its tasks throw
    mortal, ///< others abort it, destroy it and put another in its place
  };

  life kind = life::calm;
  context home;
  std::atomic<std::uint64_t> epoch = 0; ///< raised before and after each abort and destroy
  std::mutex handle_guard; ///< held for moments only
  stream s;
  stream gone; ///< of the same context, destroyed: it refuses everything

  std::mutex guard; ///< of the model; held while commands are submitted
  std::uint64_t submitted = 0;
  std::uint64_t chain = 0;
  std::uint64_t planned_failures = 0;
  buffer<std::uint64_t> log; ///< last number, chain

  /// The last step that ran, as the stream's commands tell each other; one for each stream.
  std::shared_ptr<std::uint64_t> last_seen = std::make_shared<std::uint64_t>(0);

  /// Whether nobody has begun to abort the stream since `before`, when nobody was at it.
  [[nodiscard]] bool undisturbed_since(std::uint64_t before) const {
    return before % 2 == 0 && epoch.load() == before;
  }

  [[nodiscard]] stream handle() {
    const std::lock_guard lock(handle_guard);
    return s;
  }
};

/// A program of random commands by several threads over devices, contexts and streams, checked
/// against the model. Everything is drawn from `seed`, but the interleaving is the machine's.
class random_program {
public:
  explicit random_program(std::uint64_t seed);

  /// Runs `threads` clients of `rounds` steps each, and those who abort and destroy.
  void run(unsigned threads, unsigned rounds);

  /// Waits for all and compares with the model.
  void check_end();

  [[nodiscard]] std::uint64_t steps_that_ran() const noexcept { return ran_; }
  [[nodiscard]] std::uint64_t edges_checked() const noexcept { return edges_; }
  [[nodiscard]] std::uint64_t copies_checked() const noexcept { return copies_; }
  [[nodiscard]] std::uint64_t ordinary_copies_checked() const noexcept { return ordinary_copies_; }

private:
  using random = std::mt19937_64;

  modelled_stream& any_stream(random& draw);
  void client(random draw, unsigned rounds);
  void disturber(random draw);
  bool renew(modelled_stream& m);

  void step(modelled_stream& m);
  void callback_step(modelled_stream& m);
  void failing_step(modelled_stream& m);
  void edge(modelled_stream& from, modelled_stream& to);
  void copies(modelled_stream& m, const context& over, random& draw);
  void ordinary_copies(modelled_stream& m, random& draw);
  void stop_a_context(random& draw);
  void look(modelled_stream& m);

  void expect_fair(const modelled_stream& m, const status& s, const char* what);
  void wrong(const std::string& what);

  const std::uint64_t seed_;
  runtime rt_;
  std::vector<context> contexts_;
  std::vector<std::unique_ptr<modelled_stream>> streams_;
  std::atomic<bool> done_ = false;
  std::atomic<std::uint64_t> ran_ = 0;
  std::atomic<std::uint64_t> edges_ = 0;
  std::atomic<std::uint64_t> copies_ = 0;
  std::atomic<std::uint64_t> ordinary_copies_ = 0;
  std::atomic<unsigned> wrongs_ = 0;
};

} // namespace troupe
