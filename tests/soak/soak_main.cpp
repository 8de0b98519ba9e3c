#include <algorithm>
#include <atomic>
#include <barrier>
#include <chrono>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "tests/soak/verdict.hpp"
#include "tests/soak/workload.hpp"

namespace troupe::soak {

namespace {

/// What befalls the runtime: rare enough that most visits go well.
constexpr auto fault_plan_format = R"({{"name": "soak", "seed": {}, "entries": [
  {{"pick": {{"point": "execute", "operation": "twice", "chance": 0.002, "times": 0}},
    "action": {{"kind": "fail_at_execution", "code": 507015}}}},
  {{"pick": {{"point": "execute", "engine": "dma_h2d", "chance": 0.001, "times": 0}},
    "action": {{"kind": "corrupt", "detected": true}}}},
  {{"pick": {{"point": "execute", "engine": "compute", "chance": 0.0002, "times": 0}},
    "action": {{"kind": "kill_actor"}}}},
  {{"pick": {{"point": "submit", "chance": 0.001, "times": 0}}, "action": {{"kind": "fail_at_submit"}}}},
  {{"pick": {{"point": "allocate", "chance": 0.002, "times": 0}},
    "action": {{"kind": "refuse_allocation"}}}},
  {{"pick": {{"point": "complete", "chance": 0.0001, "times": 0}}, "action": {{"kind": "drop"}}}},
  {{"pick": {{"point": "handoff", "chance": 0.0001, "times": 0}}, "action": {{"kind": "drop"}}}},
  {{"pick": {{"point": "notice", "chance": 0.002, "times": 0}}, "action": {{"kind": "delay", "ms": 2}}}},
  {{"pick": {{"point": "complete", "chance": 0.001, "times": 0}}, "action": {{"kind": "duplicate"}}}},
  {{"pick": {{"point": "message", "chance": 0.001, "times": 0}}, "action": {{"kind": "delay", "ms": 2}}}},
  {{"pick": {{"point": "heartbeat", "chance": 0.02, "times": 0}},
    "action": {{"kind": "lose_device", "ms": 100}}}}]}})";

struct program_options {
  double seconds = 60;
  unsigned intervals = 12;
  unsigned clients = 4;
  unsigned devices = 2;
  std::uint64_t seed = 1;
  bool faults = true;
};

/// Gives `runtime`s made from now on the plan. The file may go once they are made.
class plan_file {
public:
  explicit plan_file(std::uint64_t seed)
      : path_(std::filesystem::temp_directory_path() / fmt::format("troupe_soak_{}.json", ::getpid())) {
    std::ofstream(path_) << fmt::format(fault_plan_format, seed);
    ::setenv("TROUPE_FAULT_PLAN", path_.c_str(), 1);
    // The whole account would be long; the table tells what counts.
    ::setenv("TROUPE_FAULT_REPORT", "/dev/null", 1);
  }
  ~plan_file() { std::filesystem::remove(path_); }
  plan_file(const plan_file&) = delete;
  plan_file& operator=(const plan_file&) = delete;

private:
  std::filesystem::path path_;
};

/// Clients that work during an interval and stand still between two.
class crowd {
public:
  crowd(const runtime& home, const program_options& options)
      : gate_(options.clients + 1) {
    for (unsigned index = 0; index < options.clients; ++index) {
      clients_.emplace_back(home, options.seed * 1000 + index, count_);
      latencies_.emplace_back();
    }
    for (unsigned index = 0; index < options.clients; ++index) {
      threads_.emplace_back([this, index] { come_and_go(index); });
    }
  }

  ~crowd() {
    ended_ = true;
    gate_.arrive_and_wait();
    for (auto& each : threads_) each.join();
  }

  crowd(const crowd&) = delete;
  crowd& operator=(const crowd&) = delete;

  /// Lets all work for that long; returns when all stand still.
  void work(std::chrono::duration<double> how_long) {
    open_ = true;
    gate_.arrive_and_wait();
    std::this_thread::sleep_for(how_long);
    open_ = false;
    gate_.arrive_and_wait();
  }

  /// The latencies since the last call, sorted.
  [[nodiscard]] std::vector<std::int64_t> take_latencies() {
    std::vector<std::int64_t> all;
    for (auto& each : latencies_) {
      all.insert(all.end(), each.begin(), each.end());
      each.clear();
    }
    std::ranges::sort(all);
    return all;
  }

  [[nodiscard]] const tally& count() const noexcept { return count_; }
  [[nodiscard]] const std::vector<visitor>& clients() const noexcept { return clients_; }

private:
  void come_and_go(unsigned index) {
    for (;;) {
      gate_.arrive_and_wait();
      if (ended_) return;
      while (open_) {
        const auto took = clients_[index].visit();
        if (took > 0 && latencies_[index].size() < 1'000'000) latencies_[index].push_back(took);
      }
      gate_.arrive_and_wait();
    }
  }

  tally count_;
  std::barrier<> gate_;
  std::atomic<bool> open_ = false;
  std::atomic<bool> ended_ = false;
  std::vector<visitor> clients_;
  std::vector<std::vector<std::int64_t>> latencies_;
  std::vector<std::thread> threads_;
};

bool at_rest(const vitals& v) {
  return v.streams == 0 && v.events == 0 && v.device_bytes == 0 && v.host_bytes == 0;
}

/// Brings back what was lost, and looks once all that was begun has ended, or after half a minute.
vitals rest(const runtime& home) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  auto seen = take_vitals(home);
  do {
    for (std::size_t index = 0; index < home.device_count(); ++index) {
      (void)home.device(static_cast<std::int64_t>(index)).value().reset();
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    seen = take_vitals(home);
  } while (!at_rest(seen) && std::chrono::steady_clock::now() < end);
  return seen;
}

std::int64_t part(const std::vector<std::int64_t>& sorted, double share) {
  if (sorted.empty()) return 0;
  return sorted[static_cast<std::size_t>(share * static_cast<double>(sorted.size() - 1))];
}

void print_row(unsigned interval, const checkpoint& c, const tally& count) {
  fmt::print("{:>8} {:>9} {:>9} {:>7} {:>7} {:>10.1f} {:>7} {:>8} {:>10.1f} {:>10.1f}\n", interval,
             count.visits.load(), count.told.load(), count.wrong.load(), count.resets.load(),
             static_cast<double>(c.held.resident_bytes) / 1048576.0, c.held.descriptors,
             c.held.threads, static_cast<double>(c.launch_p50_ns) / 1000.0,
             static_cast<double>(c.launch_p99_ns) / 1000.0);
  std::fflush(stdout);
}

/// Whether all went well; says so.
bool run(const program_options& options) {
  std::unique_ptr<plan_file> plan;
  if (options.faults) plan = std::make_unique<plan_file>(options.seed);
  runtime_options how;
  how.devices.resize(options.devices);
  runtime home(how);
  plan.reset();

  fmt::print("{:>8} {:>9} {:>9} {:>7} {:>7} {:>10} {:>7} {:>8} {:>10} {:>10}\n", "interval", "visits",
             "told", "wrong", "resets", "RSS MiB", "files", "threads", "p50 us", "p99 us");
  std::vector<checkpoint> points;
  std::vector<std::string> wrongs;
  {
    crowd clients(home, options);
    for (unsigned interval = 1; interval <= options.intervals; ++interval) {
      clients.work(std::chrono::duration<double>(options.seconds / options.intervals));
      const auto latencies = clients.take_latencies();
      points.push_back({rest(home), part(latencies, 0.5), part(latencies, 0.99)});
      print_row(interval, points.back(), clients.count());
    }
    for (const auto& each : clients.clients()) {
      wrongs.insert(wrongs.end(), each.wrongs().begin(), each.wrongs().end());
    }
  }
  home.shutdown().or_throw();
  const auto bent = not_flat(points);
  wrongs.insert(wrongs.end(), bent.begin(), bent.end());
  for (const auto& each : wrongs) fmt::print("WRONG: {}\n", each);
  if (wrongs.empty()) fmt::print("flat: nothing held, nothing grown, no wrong answer\n");
  return wrongs.empty();
}

} // namespace

} // namespace troupe::soak

int main(int argc, char** argv) {
  using namespace troupe::soak;
  CLI::App app(
      "Runs random work, faults and resets for a stated time, and shows whether memory, handles, "
      "threads and latency stay flat.\n"
      "Exit codes: 0 all flat and right, 1 something grew or was wrong, 2 usage.");
  app.name("troupe_soak");
  program_options options;
  bool plain = false;
  app.add_option("--seconds", options.seconds, "how long to work")
      ->check(CLI::Range(0.1, 1e7))
      ->capture_default_str();
  app.add_option("--intervals", options.intervals, "checkpoints, at each of which all stands still")
      ->check(CLI::Range(1U, 100000U))
      ->capture_default_str();
  app.add_option("--clients", options.clients, "threads that work")
      ->check(CLI::Range(1U, 256U))
      ->capture_default_str();
  app.add_option("--devices", options.devices, "devices to work on")
      ->check(CLI::Range(1U, 64U))
      ->capture_default_str();
  app.add_option("--seed", options.seed, "of the work and of the faults")
      ->check(CLI::Range(std::uint64_t{0}, std::uint64_t{1} << 52U))
      ->capture_default_str();
  app.add_flag("--no-faults", plain, "only work and resets");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    return app.exit(e) == 0 ? 0 : 2;
  }
  options.faults = !plain;
  try {
    return run(options) ? 0 : 1;
  } catch (const troupe::error& e) {
    fmt::print(stderr, "troupe_soak: {}\n", e.outcome().describe());
  } catch (const std::exception& e) {
    fmt::print(stderr, "troupe_soak: {}\n", e.what());
  }
  return 1;
}
