#include "tests/stress/random_program.hpp"

#include <algorithm>
#include <stdexcept>
#include <thread>

namespace troupe {
namespace {

constexpr std::size_t streams_per_context = 3;
constexpr std::size_t bytes_max = 3 * 4096;

std::uint64_t link(std::uint64_t chain, std::uint64_t number) {
  return (chain ^ number) * 0x9E37'79B9'7F4A'7C15U + 1;
}

/// A value of 1, 2, 4 or 8 bytes to fill `size` bytes with, as often as it fits.
std::vector<std::byte> random_pattern(std::size_t size, std::mt19937_64& draw) {
  std::vector<std::byte> made(std::size_t{1} << draw() % 4);
  if (size < made.size()) made.resize(1);
  for (auto& each : made) each = static_cast<std::byte>(draw());
  return made;
}

status fill_front(stream& s, gsl::span<unsigned char> target,
                  const std::vector<std::byte>& pattern) {
  fill_2d_request request;
  request.target = target.data();
  request.width = request.pitch = target.size() - target.size() % pattern.size();
  request.height = 1;
  request.value = fill_pattern(pattern);
  return s.fill_2d(request);
}

runtime_options options() {
  auto made = test_options(2);
  made.queue_depth = 16; // so that submitters wait for room as well
  made.copy_chunk_kib = 4;
  made.stop_bound_ms = 1000;
  return made;
}

} // namespace

random_program::random_program(std::uint64_t seed) : seed_(seed), rt_(options()) {
  using life = modelled_stream::life;
  for (const auto kind : {life::calm, life::faulty, life::mortal, life::calm}) {
    const auto device = static_cast<std::int64_t>(contexts_.size() % 2);
    contexts_.push_back(rt_.device(device).value().create_context().value());
    for (std::size_t i = 0; i < streams_per_context; ++i) {
      auto made = std::make_unique<modelled_stream>();
      made->kind = kind;
      made->home = contexts_.back();
      made->s = made->home.create_stream({static_cast<unsigned>(2 * i + 1), 0}).value();
      made->gone = made->home.create_stream().value();
      made->gone.destroy().or_throw();
      made->log = made->home.allocate<std::uint64_t>(2, initial::cleared).value();
      streams_.push_back(std::move(made));
    }
  }
}

void random_program::wrong(const std::string& what) {
  if (wrongs_++ < 8) ADD_FAILURE() << what << " (seed " << seed_ << ")";
}

void random_program::expect_fair(const modelled_stream& m, const status& s, const char* what) {
  const bool fair = m.kind == modelled_stream::life::mortal ? is_fair_reply(s) : s.ok();
  if (!fair) wrong(std::string(what) + ": " + s.describe());
}

modelled_stream& random_program::any_stream(random& draw) {
  return *streams_[draw() % streams_.size()];
}

// -- commands -----------------------------------------------------------------

void random_program::step(modelled_stream& m) {
  const std::lock_guard lock(m.guard);
  const auto number = m.submitted + 1;
  const bool every = m.kind != modelled_stream::life::mortal;
  const auto s = m.s.launch(
      "step",
      [this, last_seen = m.last_seen, every](std::span<std::uint64_t> log, std::uint64_t mine) {
        if (every ? log[0] + 1 != mine : log[0] >= mine) {
          wrong("step " + std::to_string(mine) + " runs after " + std::to_string(log[0]));
        }
        log[0] = mine;
        log[1] = link(log[1], mine);
        *last_seen = mine;
        ++ran_;
      },
      m.log, number);
  expect_fair(m, s, "launch");
  if (!s.ok()) return;
  m.submitted = number;
  m.chain = link(m.chain, number);
}

void random_program::callback_step(modelled_stream& m) {
  const std::lock_guard lock(m.guard);
  const auto before = m.submitted;
  const bool every = m.kind != modelled_stream::life::mortal;
  expect_fair(m, m.s.callback("look", [this, last_seen = m.last_seen, every, before] {
    if (every ? *last_seen != before : *last_seen > before) {
      wrong("a callback after step " + std::to_string(before) + " sees " +
            std::to_string(*last_seen));
    }
  }), "callback");
}

void random_program::failing_step(modelled_stream& m) {
  const std::lock_guard lock(m.guard);
  expect_fair(m, m.s.launch("planned failure", [] { throw std::runtime_error("as planned"); }),
              "launch of a failing kernel");
  ++m.planned_failures;
}

// The second stream must see what the first one did before its record. An abort in between may
// drop the wait and not the look behind it: then nothing is promised.
void random_program::edge(modelled_stream& from, modelled_stream& to) {
  struct cell {
    std::uint64_t written = 0; // plain: the wait is all that orders it
  };
  const auto shared = std::make_shared<cell>();
  auto made = from.home.create_event();
  if (!made) return wrong("create_event: " + made.error().describe());
  auto& e = made.value();
  const auto from_epoch = from.epoch.load();
  {
    const std::lock_guard lock(from.guard);
    const auto wrote = from.s.launch("write", [shared] { shared->written = 42; });
    expect_fair(from, wrote, "launch before a record");
    if (!wrote.ok()) return;
    const auto recorded = from.s.record(e);
    expect_fair(from, recorded, "record");
    if (!recorded.ok()) return;
  }
  // A refused record changes nothing: the wait below is for the one before.
  if (from.gone.record(e).code() != code::invalid_handle) wrong("a destroyed stream records");
  const std::lock_guard lock(to.guard);
  const auto epoch = to.epoch.load();
  const auto waits = to.s.wait(e);
  if (from.kind != modelled_stream::life::mortal || waits.code() != code::stream_abort) {
    expect_fair(to, waits, "wait");
  }
  if (!waits.ok()) return;
  expect_fair(to, to.s.launch("read", [this, &from, &to, shared, from_epoch, epoch] {
    if (!to.undisturbed_since(epoch) || !from.undisturbed_since(from_epoch)) return;
    if (shared->written != 42) wrong("a wait let its stream go before the record");
    ++edges_;
  }), "launch after a wait");
}

void random_program::copies(modelled_stream& m, const context& over, random& draw) {
  struct cargo {
    host_buffer<unsigned char> out;
    host_buffer<unsigned char> back;
    host_buffer<unsigned char> seen; // of the fill between
    buffer<unsigned char> first;
    buffer<unsigned char> second;
  };
  const auto size = static_cast<std::size_t>(draw() % bytes_max + 1);
  const auto c = std::make_shared<cargo>();
  c->out = rt_.allocate_host<unsigned char>(size).value();
  c->back = rt_.allocate_host<unsigned char>(size).value();
  c->seen = rt_.allocate_host<unsigned char>(size).value();
  c->first = m.home.allocate<unsigned char>(size).value();
  c->second = over.allocate<unsigned char>(size).value();
  for (auto& each : c->out) each = static_cast<unsigned char>(draw());
  const auto pattern = random_pattern(size, draw);
  const gsl::span<unsigned char> filled(c->first.data(), size);
  const std::lock_guard lock(m.guard);
  const auto epoch = m.epoch.load();
  for (const auto& s : {m.s.copy(c->first, c->out), m.s.copy(c->second, c->first),
                        fill_front(m.s, filled, pattern), m.s.copy(c->seen, c->first),
                        m.s.copy(c->first, c->second), m.s.copy(c->back, c->first)}) {
    expect_fair(m, s, "copy");
    if (!s.ok()) return;
  }
  expect_fair(m, m.s.callback("compare", [this, &m, epoch, c, pattern] {
    if (!m.undisturbed_since(epoch)) return;
    const auto count = c->seen.size() - c->seen.size() % pattern.size();
    for (std::size_t i = 0; i < count; ++i) {
      if (std::byte{c->seen[i]} == pattern[i % pattern.size()]) continue;
      wrong("a fill with " + std::to_string(pattern.size()) + " bytes missed byte " +
            std::to_string(i));
      break;
    }
    if (!std::equal(c->out.begin(), c->out.end(), c->back.begin())) {
      wrong("bytes changed on their way over two devices");
    }
    ++copies_;
  }), "callback after copies");
}

// With ordinary memory success means that the copy ran, whatever others do to the stream.
void random_program::ordinary_copies(modelled_stream& m, random& draw) {
  std::vector<unsigned char> out(draw() % bytes_max + 1);
  std::vector<unsigned char> back(out.size());
  for (auto& each : out) each = static_cast<unsigned char>(draw());
  auto memory = m.home.allocate<unsigned char>(out.size(), initial::cleared).value();
  const std::lock_guard lock(m.guard);
  for (const auto& s : {m.s.copy(memory, out), m.s.copy(back, memory)}) {
    expect_fair(m, s, "copy of ordinary memory");
    if (!s.ok()) return;
  }
  if (out != back) wrong("a copy of ordinary memory was said to have run and did not");
  ++ordinary_copies_;
}

// A context that stops at its first failure: nothing behind it runs, and every call says why.
void random_program::stop_a_context(random& draw) {
  auto doomed = rt_.device(static_cast<std::int64_t>(draw() % 2)).value().create_context().value();
  auto s = doomed.create_stream().value();
  auto beside = doomed.create_stream().value();
  const std::vector<int> ones(64, 1);
  std::vector<int> behind(64, 7);
  std::vector<int> there(64, 7);
  auto memory = doomed.allocate<int>(64, initial::cleared).value();
  const auto ran = std::make_shared<std::atomic<bool>>(false);
  const auto is_cause = [](const status& each) { return each.code() == code::kernel_exception; };
  s.set_failure_mode(failure_mode::stop).or_throw();
  if (!s.copy(memory, ones).ok()) wrong("a copy before the failure");
  if (!s.launch("last", [] { throw std::runtime_error("as planned"); }).ok()) wrong("launch");
  const auto after = s.launch("after", [ran] { *ran = true; });
  if (!after.ok() && !is_cause(after)) wrong("a launch behind: " + after.describe());
  const auto copied = s.copy(behind, memory);
  if (!is_cause(copied)) wrong("a copy behind the failure: " + copied.describe());
  const auto elsewhere = beside.copy(there, memory);
  if (!elsewhere.ok() && !is_cause(elsewhere)) wrong("a copy beside: " + elsewhere.describe());
  if (there != (elsewhere.ok() ? ones : std::vector<int>(64, 7))) wrong("bytes of a copy beside");
  if (!is_cause(doomed.synchronize())) wrong("a stopped context says success");
  if (*ran || behind != std::vector<int>(64, 7)) wrong("work behind the failure ran");
  if (draw() % 2 == 0 && !s.destroy().ok()) wrong("destroying a stream of a stopped context");
  if (!doomed.destroy().ok()) wrong("destroying a stopped context");
}

void random_program::look(modelled_stream& m) {
  const auto s = m.handle();
  // A mortal stream may stall behind a record that an abort has dropped, until it is aborted.
  const auto outcome = s.synchronize();
  if (m.kind != modelled_stream::life::faulty || outcome.code() != code::kernel_exception) {
    expect_fair(m, outcome, "synchronize");
  }
  expect_fair(m, s.query().error(), "query");
}

// -- threads ------------------------------------------------------------------

void random_program::client(random draw, unsigned rounds) {
  for (unsigned i = 0; i < rounds; ++i) {
    auto& m = any_stream(draw);
    const auto dice = draw() % 100;
    if (dice < 50) {
      step(m);
    } else if (dice < 60) {
      callback_step(m);
    } else if (dice < 75) {
      auto& other = any_stream(draw);
      // A calm stream behind a record that is dropped would stall for ever.
      const bool stalls = m.kind == modelled_stream::life::mortal && other.kind != m.kind;
      if (&other != &m && !stalls) edge(m, other);
    } else if (dice < 79) {
      ordinary_copies(m, draw);
    } else if (dice < 81) {
      stop_a_context(draw);
    } else if (dice < 88) {
      copies(m, contexts_[draw() % contexts_.size()], draw);
    } else if (dice < 94) {
      if (m.kind == modelled_stream::life::faulty) failing_step(m);
    } else {
      look(m);
    }
  }
}

// Without waiting for the guard: a submitter that holds it may wait for room, and need an abort.
bool random_program::renew(modelled_stream& m) {
  const std::unique_lock lock(m.guard, std::try_to_lock);
  if (!lock) return false;
  auto old = m.handle();
  ++m.epoch;
  {
    const std::lock_guard handle_lock(m.handle_guard);
    m.s = m.home.create_stream().value();
  }
  m.last_seen = std::make_shared<std::uint64_t>(0);
  m.log = m.home.allocate<std::uint64_t>(2, initial::cleared).value();
  expect_fair(m, old.destroy(true), "destroy");
  ++m.epoch;
  return true;
}

// Aborts and destroys mortal streams until the clients are done: so none of them stalls for good.
void random_program::disturber(random draw) {
  while (!done_) {
    auto& m = any_stream(draw);
    if (m.kind != modelled_stream::life::mortal) continue;
    if (draw() % 8 == 0 && renew(m)) continue;
    ++m.epoch;
    expect_fair(m, m.handle().abort(), "abort");
    ++m.epoch;
    std::this_thread::yield();
  }
}

void random_program::run(unsigned threads, unsigned rounds) {
  std::vector<std::thread> clients;
  random draw(seed_);
  std::thread upsets([this, seed = draw()] { disturber(random(seed)); });
  for (unsigned i = 0; i < threads; ++i) {
    clients.emplace_back([this, seed = draw(), rounds] { client(random(seed), rounds); });
  }
  for (auto& each : clients) each.join();
  done_ = true;
  upsets.join();
}

void random_program::check_end() {
  using life = modelled_stream::life;
  for (const auto& each : streams_) {
    auto& m = *each;
    if (m.kind == life::mortal) {
      expect_fair(m, m.s.destroy(true), "last destroy");
      continue;
    }
    const auto outcome = m.s.synchronize();
    if (m.kind == life::calm) {
      EXPECT_THAT(outcome, IsOk()) << "seed " << seed_;
    }
    EXPECT_EQ(m.s.counters().failed, m.planned_failures) << "seed " << seed_;
    std::array<std::uint64_t, 2> seen{};
    EXPECT_THAT(m.home.copy(seen, m.log), IsOk());
    EXPECT_EQ(seen[0], m.submitted) << "seed " << seed_;
    EXPECT_EQ(seen[1], m.chain) << "seed " << seed_;
  }
  streams_.clear();
  for (const auto& each : contexts_) EXPECT_THAT(each.destroy(), IsOk());
  contexts_.clear();
  await_empty(rt_);
  EXPECT_THAT(rt_.shutdown(), IsOk()) << "seed " << seed_;
}

} // namespace troupe
