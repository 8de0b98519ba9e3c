#include "actors/simulation/witness.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "actors/context_record.hpp"
#include "actors/copy_loop.hpp"
#include "actors/payloads.hpp"
#include "actors/simulation/simulation.hpp"
#include "actors/stream_record.hpp"

namespace troupe {

// -- commands -------------------------------------------------------------------

run_event witness::event_of(happening what, const stream_record& stream,
                            std::uint64_t number) const {
  run_event made;
  made.what = what;
  made.runtime = runtime_;
  made.step = play_.steps();
  made.context = stream.context().id();
  made.tenant = tenant_of(made.context);
  made.stream = stream.id();
  made.number = number;
  return made;
}

void witness::put_down(const run_event& event) {
  if (play_.goes_on_record()) record_.events.push_back(event);
}

void witness::submitted(const stream_record& stream, const command& c, std::uint64_t number) {
  auto made = event_of(c.lost ? happening::lost : happening::submitted, stream, number);
  made.kind = c.kind;
  made.name = c.name;
  if (c.kind == command_kind::wait && !c.lost) {
    const auto& wait = c.as<wait_payload>();
    made.awaited_stream = wait.line->what() == timeline_of::stream ? wait.line->id() : 0;
    made.awaited_number = wait.number;
    if (made.awaited_stream == 0) signals_[{made.stream, number}] = wait.line;
  }
  at_work_.add(made.stream, made.context, number, c);
  put_down(made);
}

void witness::note(happening what, const stream_record& stream, const command& c,
                   std::uint64_t detail) {
  auto made = event_of(what, stream, c.number);
  made.kind = c.kind;
  made.name = c.name;
  made.detail = detail;
  put_down(made);
}

void witness::publishing(const stream_record& stream, std::uint64_t number) {
  if (stream.line()->completed() + 1 != number) return;
  at_work_.end(stream.id(), number);
  auto made = event_of(happening::published, stream, number);
  if (const auto awaited = signals_.find({made.stream, number}); awaited != signals_.end()) {
    made.detail = awaited->second->completed() == 0 ? 1 : 0;
    signals_.erase(awaited);
  }
  put_down(made);
}

void witness::dropped(const stream_record& stream, std::uint64_t first, std::uint64_t last) {
  at_work_.end(stream.id(), last);
  for (auto number = first; number <= last; ++number) {
    signals_.erase({stream.id(), number});
    put_down(event_of(happening::dropped, stream, number));
    put_down(event_of(happening::published, stream, number));
  }
}

// Chunk by chunk, as only then nobody else can have written to the source or the target.
void witness::copied(const stream_record& stream, const command& c, const copy_payload& before) {
  const auto wrong = first_miscopied(before, c.as<copy_payload>());
  if (wrong) note(happening::miscopied, stream, c, *wrong);
}

void witness::handed_out(const std::byte* data, std::size_t bytes,
                         gsl::span<const work_ranges::part> behind) {
  const auto* touching = at_work_.find(data, bytes, behind);
  if (touching == nullptr) return;
  run_event made;
  made.what = happening::robbed;
  made.kind = touching->kind;
  made.runtime = runtime_;
  made.step = play_.steps();
  made.context = touching->context;
  made.tenant = tenant_of(made.context);
  made.stream = touching->stream;
  made.number = touching->number;
  made.name = touching->name;
  made.detail = bytes;
  put_down(made);
}

// -- clients --------------------------------------------------------------------

void witness::told(std::uint64_t stream, std::uint64_t number) {
  run_event made;
  made.what = happening::told;
  made.runtime = runtime_;
  made.step = play_.steps();
  made.stream = stream;
  made.number = number;
  put_down(made);
}

void witness::context_made(std::uint64_t context) {
  if (const auto tenant = play_.tenant_here(); tenant != 0) tenants_[context] = tenant;
}

std::uint32_t witness::tenant_of(std::uint64_t context) const {
  const auto found = tenants_.find(context);
  return found == tenants_.end() ? 0 : found->second;
}

// -- the end --------------------------------------------------------------------

void witness::account(std::string what, std::uint64_t at_end) {
  if (runtime_ != 1) what += " of runtime " + std::to_string(runtime_);
  record_.accounts.push_back({std::move(what), 0, at_end});
}

void witness::survivor(std::string what) {
  if (runtime_ != 1) what += " of runtime " + std::to_string(runtime_);
  record_.survivors.push_back(std::move(what));
}

} // namespace troupe
