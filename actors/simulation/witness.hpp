#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "actors/simulation/work_ranges.hpp"
#include "core/command.hpp"
#include "core/exploration/run_record.hpp"
#include "core/faults/fault_injector.hpp"

namespace troupe {

class simulation;
class stream_record;
struct copy_payload;
class timeline;

/// Puts on record what happens in one simulated runtime; see `run_record`. The parts of the runtime
/// tell it; a live runtime has none. Nothing is put down off the record. By the baton's holder.
class witness {
public:
  /// Writes to `record`, as of the `runtime`-th runtime of `play`; both outlive the witness.
  witness(const simulation& play, run_record& record, std::uint32_t runtime)
      : play_(play), record_(record), runtime_(runtime) {}

  // -- commands -----------------------------------------------------------------

  /// A command is about to be accepted by `stream` under `number`.
  void submitted(const stream_record& stream, const command& c, std::uint64_t number);

  /// An event of `c`, which has its number. `detail`: see `happening`.
  void note(happening what, const stream_record& stream, const command& c,
            std::uint64_t detail = 0);

  /// Command `number` of `stream` is about to count as completed, unless its executor was given up
  /// on.
  void publishing(const stream_record& stream, std::uint64_t number);

  /// The commands from `first` to `last` have ended without their work.
  void dropped(const stream_record& stream, std::uint64_t first, std::uint64_t last);

  /// `c`, a copy that was as `before`, has gone on by a chunk: is that its source's?
  void copied(const stream_record& stream, const command& c, const copy_payload& before);

  /// Memory was handed out, for use behind that work; else at once.
  void handed_out(const std::byte* data, std::size_t bytes,
                  gsl::span<const work_ranges::part> behind = {});

  // -- clients ------------------------------------------------------------------

  /// A host thread is told that everything up to `number` of `stream` has ended.
  void told(std::uint64_t stream, std::uint64_t number);

  /// A request that wants one answer, and its answer.
  [[nodiscard]] std::size_t asked() { return record_.asked(); }
  void answered(std::size_t request) { record_.answered(request); }

  /// The calling client has made that context: it belongs to the client's tenant.
  void context_made(std::uint64_t context);
  [[nodiscard]] std::uint32_t tenant_of(std::uint64_t context) const;

  // -- the end ------------------------------------------------------------------

  /// The runtime has a plan of faults, by this injector.
  void may_be_struck(std::shared_ptr<const fault_injector> by) { injector_ = std::move(by); }
  [[nodiscard]] const fault_injector* injector() const noexcept { return injector_.get(); }

  /// A fault has struck.
  void struck() noexcept { ++record_.faults; }

  /// Something that began as 0 and must be 0 again.
  void account(std::string what, std::uint64_t at_end);
  void survivor(std::string what);

private:
  void put_down(const run_event& event);
  [[nodiscard]] run_event event_of(happening what, const stream_record& stream,
                                   std::uint64_t number) const;

  const simulation& play_;
  run_record& record_;
  const std::uint32_t runtime_;
  std::map<std::uint64_t, std::uint32_t> tenants_; // by context
  /// Whose commands still wait for one, by stream and number.
  std::map<std::pair<std::uint64_t, std::uint64_t>, std::shared_ptr<const timeline>> signals_;
  work_ranges at_work_;
  std::shared_ptr<const fault_injector> injector_; // outlives its runtime here
};

} // namespace troupe
