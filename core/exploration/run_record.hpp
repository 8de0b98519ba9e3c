#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "core/command.hpp"

namespace troupe {

/// What can happen to a command of a stream, and to who waits for it.
enum class happening : unsigned char {
  submitted, ///< accepted under its number
  lost,      ///< accepted, and a fault lost it on its way
  begun,     ///< an engine begins its work
  worked,    ///< the work is done, well or badly
  miscopied, ///< a chunk of a copy differs from its source, at byte `detail` of the whole
  robbed,    ///< `detail` bytes that it touches were handed out to others before it had ended
  corrupted, ///< a fault flipped bits in what it wrote
  failed,    ///< its failure was taken down, `detail` is the code
  dropped,   ///< an abort, or the end of its context, ended it without its work
  published, ///< its number counts as completed from now on; `detail` is 1 for a wait whose signal
             ///< was not raised
  told,      ///< a host thread was told that everything up to the number has ended
};

[[nodiscard]] const char* to_string(happening what) noexcept;

/// One line of a record: what happened to which command.
struct run_event {
  happening what = happening::submitted;
  command_kind kind = command_kind::kernel;
  std::uint32_t runtime = 1;        ///< of the simulation, from 1
  std::uint32_t tenant = 0;         ///< whose client submitted it; 0: no tenant's
  std::uint64_t step = 0;           ///< of the run
  std::uint64_t context = 0;
  std::uint64_t stream = 0;         ///< or signal
  std::uint64_t number = 0;         ///< of the command in its stream
  const char* name = "";            ///< of the operation, lives for ever; empty where only the
                                    ///< number is known: `published`, at times `dropped`, `told`
  std::uint64_t awaited_stream = 0; ///< of a wait: the ticket; 0: a signal's
  std::uint64_t awaited_number = 0;
  std::uint64_t detail = 0;
};

/// Something that must be at the end as it was at the start.
struct run_account {
  std::string what; ///< "bytes of device 0", "streams of device 0"
  std::uint64_t at_start = 0;
  std::uint64_t at_end = 0;
};

/// Everything that happened in one simulated run, as the runtime itself saw it: what oracles judge.
/// A plain value; one owner at a time.
struct run_record {
  using bytes = std::vector<std::byte>;

  std::vector<run_event> events;          ///< in the order in which they happened
  std::vector<std::uint32_t> answers;     ///< by request of a client: how often it was answered
  std::vector<run_account> accounts;      ///< of runtimes that have ended
  std::vector<std::string> survivors;     ///< what was left of them, in words
  std::map<std::string, std::vector<bytes>> observed; ///< what the body put down, by name
  std::string liveness;                   ///< why a device could not be used after the body
  std::uint64_t faults = 0;               ///< that struck
  bool hung = false;                      ///< waits were broken off: nothing ended as it should

  /// Notes a request that wants one answer; its number.
  [[nodiscard]] std::size_t asked() {
    answers.push_back(0);
    return answers.size() - 1;
  }
  void answered(std::size_t request) { ++answers[request]; }
};

/// One line for a human: "stream 3 #7 kernel 'scale' begun".
[[nodiscard]] std::string describe(const run_event& event);

[[nodiscard]] const char* to_string(command_kind kind) noexcept;

} // namespace troupe
