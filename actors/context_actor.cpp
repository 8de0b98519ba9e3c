#include "actors/context_actor.hpp"

#include <algorithm>
#include <string>

#include "actors/device_record.hpp"
#include "actors/machine.hpp"
#include "actors/pool_actor.hpp"
#include "actors/scheduling/spawn.hpp"
#include "actors/stream_actor.hpp"

namespace troupe {
namespace {

// Allocations that one report of leaks lists one by one.
constexpr std::size_t leaks_named = 8;

} // namespace

context_actor::context_actor(caf::actor_config& config, std::shared_ptr<context_record> record)
    : actor_base(config, lane_id::control, "context"), record_(std::move(record)) {}

caf::behavior context_actor::handlers() {
  return {
      on<create_stream>(
          [this](create_stream& m) { m.answer(make_stream(m.priority, m.queue_depth)); }),
      on<create_pool>([this](create_pool& m) { m.answer(make_pool(m.options)); }),
      on<destroy_context>([this](destroy_context& m) {
        m.answer(destroy());
        quit();
      }),
  };
}

result<std::shared_ptr<stream_record>> context_actor::make_stream(unsigned priority,
                                                            unsigned queue_depth) {
  if (priority >= engine_port::priority_count) {
    return make_status(code::invalid_parameter, "stream priority " + std::to_string(priority) +
                                                    " is not one of 0 (greatest) to 7");
  }
  constexpr auto least = runtime_options::queue_depth_min;
  constexpr auto most = runtime_options::queue_depth_max;
  if (queue_depth != 0 && (queue_depth < least || queue_depth > most)) {
    return make_status(code::invalid_parameter,
                       "stream queue depth " + std::to_string(queue_depth) + " is not from " +
                           std::to_string(least) + " to " + std::to_string(most) +
                           ", nor 0 for the runtime's");
  }
  if (record_->destroyed()) return record_->check_usable();
  return spawn_stream(record_, priority, queue_depth);
}

result<std::shared_ptr<pool_record>> context_actor::make_pool(const pool_options& options) {
  if (record_->destroyed()) return record_->check_usable();
  if (auto s = record_->device().check_present(); !s.ok()) return s;
  auto made = std::make_shared<pool_record>(record_, options);
  made->actor = spawn_actor<pool_actor>(record_->home().system(), made);
  record_->add(made);
  return made;
}

status context_actor::destroy() {
  if (!record_->mark_destroyed()) {
    return make_status(code::invalid_handle,
                       "context " + std::to_string(record_->id()) + " has been destroyed");
  }
  const auto streams = record_->streams();
  for (const auto& each : streams) {
    // Later submissions see that the context is gone; `outstanding` has the rest.
    each->settle_submissions();
    if (each->line()->idle()) each->leave_count(); // else as what it is at ends
    post(each->actor, close_stream{true, no_reply<status>()});
  }
  for (const auto& each : record_->pools()) post(each->actor, close_pool{});
  report_leaks();
  auto& device = record_->device();
  // By the books themselves and not by a message: their keeper may be dead, or the message lost.
  device.memory->free_all(record_->id(), record_->outstanding());
  if (streams.empty()) device.forget(record_->id()); // else as the last one ends
  return {};
}

// What nobody holds but by its address: buffers and pools free theirs, however late.
void context_actor::report_leaks() const {
  const auto& memory = *record_->device().memory;
  const auto left = memory.raw_blocks_of(record_->id());
  if (left.empty()) return;
  std::uint64_t bytes = 0;
  for (const auto& each : left) bytes += each.bytes;
  std::string sites;
  for (std::size_t i = 0; i < std::min(left.size(), leaks_named); ++i) {
    sites += (i == 0 ? ": " : ", ") + std::to_string(left[i].bytes) + " bytes of " +
             left[i].site.file + ":" + std::to_string(left[i].site.line);
  }
  if (left.size() > leaks_named) sites += " ...";
  record_->home().note({diagnostic::kind::leaked_memory, 0,
                        "context " + std::to_string(record_->id()) + " ended with " +
                            std::to_string(left.size()) + " allocations, " +
                            std::to_string(bytes) + " bytes, of the " + memory.name() +
                            " that were not freed" + sites});
}

const char* context_actor::state_word() const {
  if (!record_ || record_->destroyed()) return "ended";
  return record_->poisoned() ? "failed" : "usable";
}

void context_actor::on_exit() {
  if (record_ && !record_->destroyed()) (void)destroy();
  if (record_) record_->set_default_stream(nullptr);
  record_.reset();
  announce_release(this);
}

result<std::shared_ptr<stream_record>> spawn_stream(const std::shared_ptr<context_record>& context,
                                                    unsigned priority, unsigned queue_depth) {
  auto& device = context->device();
  auto& home = context->home();
  if (auto s = device.check_present(); !s.ok()) return s;
  const auto limit = device.profile().stream_limit;
  const auto before = device.stream_count.fetch_add(1, std::memory_order_relaxed);
  if (before >= limit) {
    device.stream_count.fetch_sub(1, std::memory_order_relaxed);
    error_record record;
    record.what = code::resource_shortage;
    record.message = "device " + std::to_string(device.index()) + " has " + std::to_string(limit) +
                     " streams, its limit";
    record.device = device.index();
    record.context = context->id();
    record.lacking = shortage{"streams", 1, before, limit};
    return status(std::move(record));
  }
  const auto depth = queue_depth != 0 ? queue_depth : home.options().queue_depth;
  auto made = std::make_shared<stream_record>(
      home, context, stream_record::identity{home.next_id(), priority, depth});
  made->actor = spawn_actor<stream_actor>(home.system(), made);
  context->add(made);
  return made;
}

} // namespace troupe
