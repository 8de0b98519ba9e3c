#include "api/python/src/lanes.hpp"

#include <map>
#include <optional>

#include "api/python/src/interruption.hpp"
#include "api/python/src/options.hpp"
#include "troupe/capture.hpp"

namespace troupe::python {
namespace {

using all_lanes = std::map<std::uint64_t, std::unique_ptr<lanes>>; // by serial of the place

// A thread's end has no GIL, and what streams keep alive wants it.
struct lanes_of_thread {
  all_lanes all;
  std::uint64_t pending_calls = 0; // so far, with nobody to wait for them
  bool any_pending = false;

  lanes_of_thread() = default;
  lanes_of_thread(const lanes_of_thread&) = delete;
  lanes_of_thread& operator=(const lanes_of_thread&) = delete;
  ~lanes_of_thread() {
    if (!python_is_open()) {
      for (auto& each : all) (void)each.second.release();
      return;
    }
    const gil_entry held;
    all.clear();
  }
};

thread_local lanes_of_thread mine;

// The records that `user` must have reached before it uses the memory so.
std::vector<event> awaited_by(const stream& user, const std::vector<memory_access>& memory) {
  std::vector<event> made;
  for (const auto& each : memory) {
    for (const auto& mark : each.of->marks()) {
      if (mark.stream != user.id() && (each.writes || mark.wrote)) made.push_back(mark.after);
    }
  }
  return made;
}

// A write has waited for all others: its mark stands for theirs.
void note_use(const stream& user, const memory_access& use, const event& after) {
  auto& marks = use.of->marks();
  if (use.writes) marks.clear();
  for (auto& mark : marks) {
    if (mark.stream == user.id()) {
      mark.after = after;
      return;
    }
  }
  marks.push_back({user.id(), after, use.writes});
}

void forget_use(const memory_access& use, const event& after) {
  std::erase_if(use.of->marks(),
                [&](const use_mark& kept) { return kept.after.state() == after.state(); });
}

} // namespace

std::shared_ptr<work_stream> lanes::at(lane which) {
  const auto home = home_.lock();
  if (!home) refuse("the context has ended");
  auto& found = streams_[option(name_of_option::pipelining) ? static_cast<std::size_t>(which) : 0];
  if (!found) {
    auto made = take(without_gil([&] { return home->home().create_stream(); }));
    // These streams end with their context, so they do not keep it.
    const std::shared_ptr<place> not_kept(std::shared_ptr<place>(), home.get());
    found = std::make_shared<work_stream>(not_kept, std::move(made));
  }
  return found;
}

void lanes::note_pending(const work_stream& user, const event& after) {
  last_[streams_[0].get() == &user ? 0 : 1] = after;
  ++mine.pending_calls;
  mine.any_pending = true;
}

lanes& lanes_of(const std::shared_ptr<place>& home) {
  const auto found = mine.all.find(home->serial());
  if (found != mine.all.end()) return *found->second;
  drop_ended_lanes();
  return *mine.all.emplace(home->serial(), std::make_unique<lanes>(home)).first->second;
}

void drop_ended_lanes() {
  std::erase_if(mine.all, [](const auto& each) { return each.second->ended(); });
}

void submit_on_lane(const std::shared_ptr<place>& home, lane which,
                    const std::vector<memory_access>& memory,
                    const std::function<status(stream&)>& submit, py::object keep) {
  const auto user = lanes_of(home).at(which);
  user->let_go_ended();
  const auto awaited = awaited_by(user->on(), memory);
  for (const auto& each : memory) each.of->used_on(user->on());
  // The event is there first, so that no work goes unmarked. Without one the call waits.
  std::optional<event> after;
  const auto lacking = without_gil([&] {
    auto got = home->home().create_event();
    if (got) after = std::move(got).value();
    return got.error();
  });
  if (lacking.code() != code::no_event_resource) check(lacking);
  for (const auto& each : awaited) user->submit([&] { return user->on().wait(each); });
  user->submit([&] { return submit(user->on()); });
  if (after) user->submit([&] { return user->on().record(*after); });
  if (!keep.is_none()) user->keep(std::move(keep));
  if (after) {
    for (const auto& each : memory) note_use(user->on(), each, *after);
    if (option(name_of_option::async)) return lanes_of(home).note_pending(*user, *after);
  }
  user->synchronize(forever);
  if (!after) return;
  for (const auto& each : memory) forget_use(each, *after); // there may be more arrays than events
}

void order_after_calls(work_stream& user) {
  if (!mine.any_pending) return;
  const auto captured = capturing::look(user.on());
  if (captured && captured.value().id != 0) return;
  const work_stream::calls_before now{PyThread_get_thread_ident(), mine.pending_calls};
  const bool known = user.comes_after() == now;
  bool pending = false;
  for (const auto& [serial, each] : mine.all) {
    if (!each->of(user.home()->runs().get())) continue;
    for (auto& last : each->last()) {
      if (!last) continue;
      const auto after = *last;
      const auto reached = without_gil([&] { return after.query(); });
      if (!reached || reached.value()) {
        last.reset();
        continue;
      }
      pending = true;
      if (!known) user.submit([&] { return user.on().wait(after); });
    }
  }
  mine.any_pending = pending;
  user.set_comes_after(now);
}

void wait_for_uses(const std::vector<memory_access>& memory) {
  for (const auto& each : memory) {
    const auto marks = each.of->marks();
    for (const auto& mark : marks) {
      if (!each.writes && !mark.wrote) continue;
      wait_for(each.of->home()->live(), forever, code::event_sync_timeout,
               [&](timeout step) { return mark.after.synchronize(step); });
      forget_use(each, mark.after);
    }
  }
}

void copy_here(const std::shared_ptr<place>& home, const std::vector<memory_access>& memory,
               const copy_request& request) {
  wait_for_uses(memory);
  check(without_gil([&] { return home->home().copy_raw(request); }));
}

void mark_fresh(storage& memory, work_stream& user) {
  auto after = take(without_gil([&]() -> result<std::optional<event>> {
    const auto idle = user.on().query();
    if (!idle || idle.value()) return std::optional<event>();
    auto made = user.home()->home().create_event();
    if (!made) return made.error();
    if (auto s = user.on().record(made.value()); !s.ok()) return s;
    return std::optional<event>(std::move(made).value());
  }));
  if (after) memory.marks().push_back({user.on().id(), *std::move(after), true});
}

void fill_on_lane(const device_array& target, unsigned char value) {
  const auto& memory = target.memory();
  const device_span<std::byte> span(target.data(), target.bytes(), memory->home()->home().id());
  submit_on_lane(
      memory->home(), lane::compute, {{memory, true}},
      [&](stream& on) { return on.fill_bytes(span, value); }, py::none());
}

} // namespace troupe::python
