#include "troupe/tenants.hpp"

#include <algorithm>
#include <map>
#include <sstream>
#include <utility>

#include "actors/faults/fault_gate.hpp"
#include "actors/simulation/simulation.hpp"
#include "api/src/runtime_maker.hpp"
#include "core/stable_hash.hpp"

namespace troupe::testing {

/// Starts the two as clients of a stage.
class tenant_run {
public:
  static constexpr std::uint32_t a = 1;
  static constexpr std::uint32_t b = 2;

  static client start(const stage& play, std::uint32_t number, std::function<void()> body) {
    return play.start_tenant(number == a ? "tenant a" : "tenant b", number, std::move(body));
  }
};

namespace {

// A context's faults are its tenant's; messages and notices are between parts that all share.
constexpr auto points_of_contexts =
    points_of(fault_point::submit, fault_point::handoff, fault_point::execute,
              fault_point::complete, fault_point::allocate);

void check(const simulation_options& options, const fault_plan& faults_on_b) {
  if (options.faults) {
    throw error(code::invalid_parameter,
                "compare_tenants: options.faults is set; what befalls B goes into faults_on_b");
  }
  if (options.replay_script) {
    throw error(code::invalid_parameter,
                "compare_tenants: options.replay_script is set; the two runs have two orders");
  }
  faults_on_b.validate().or_throw();
  for (std::size_t i = 0; i < faults_on_b.entries.size(); ++i) {
    const auto point = faults_on_b.entries[i].pick.point;
    if (contains(points_of_contexts, point)) continue;
    throw error(code::invalid_parameter,
                "faults_on_b: " + faults_on_b.entry_name(i) + " strikes at point " +
                    std::string(to_string(point)) + ", which belongs to no tenant; those that do " +
                    "are " + points_in(points_of_contexts));
  }
}

constexpr const char* hung = "hung";
constexpr const char* alone_text = "alone";

std::string ended(const std::function<void()>& body) {
  try {
    body();
    return {};
  } catch (const simulated_hang&) {
    return hung;
  } catch (const error& e) {
    // The text names contexts and streams by numbers, which depend on who else makes some.
    return "threw error " + std::to_string(static_cast<int>(e.code()));
  } catch (const std::exception& e) {
    return std::string("threw: ") + e.what();
  } catch (...) {
    return "threw an exception of unknown type";
  }
}

struct command_line {
  std::string what;     // kind and name
  std::string outcomes; // in their order
  bool counts = true;
};

bool is_order(command_kind kind) {
  return kind == command_kind::record || kind == command_kind::wait;
}

// The commands of A, by stream in the order of first use. Records and waits that do their work are
// left out: where a stream is idle, or what it waits for has ended, there is no such command.
std::vector<std::string> commands_of_a(const run_record& record) {
  std::map<std::uint64_t, std::size_t> places; // of streams
  std::vector<std::map<std::uint64_t, command_line>> streams;
  for (const auto& each : record.events) {
    if (each.tenant != tenant_run::a || each.what == happening::published) continue;
    const auto place = places.emplace(each.stream, streams.size());
    if (place.second) streams.emplace_back();
    auto& line = streams[place.first->second][each.number];
    if (each.what == happening::submitted || each.what == happening::lost) {
      line.what = std::string(to_string(each.kind)) + " '" + each.name + "'";
      line.counts = !is_order(each.kind);
    }
    line.counts |= each.what == happening::failed;
    if (each.what == happening::submitted || each.what == happening::begun) continue;
    line.outcomes += std::string(", ") + to_string(each.what);
    if (each.what == happening::failed) line.outcomes += " with " + std::to_string(each.detail);
  }
  std::vector<std::string> lines;
  for (std::size_t i = 0; i < streams.size(); ++i) {
    std::size_t count = 0;
    for (const auto& [number, line] : streams[i]) {
      if (!line.counts) continue;
      lines.push_back("stream " + std::to_string(i + 1) + " of a, #" + std::to_string(++count) +
                      " " + line.what + line.outcomes);
    }
  }
  return lines;
}

std::vector<std::string> trace_of_a(const run_record& record, const std::string& ending) {
  auto lines = commands_of_a(record);
  const std::string own = "tenant " + std::to_string(tenant_run::a) + ": ";
  for (const auto& [name, all] : record.observed) {
    if (!name.starts_with(own)) continue;
    for (const auto& bytes : all) {
      const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
      std::ostringstream line;
      line << "observed '" << name.substr(own.size()) << "': " << bytes.size() << " bytes, hash "
           << std::hex << stable_hash(0).add(text).value();
      lines.push_back(std::move(line).str());
    }
  }
  if (!ending.empty()) lines.push_back(ending);
  return lines;
}

// Why a run shows nothing about what A gets.
void doubt(tenant_comparison& made, const simulation_report& report, const std::string& run,
           const std::string& a_ended) {
  if (report.hang || a_ended == hung || (run != alone_text && made.b_threw == hung)) {
    made.doubts.push_back(run + ": the run hung" + (report.hang ? ": " + *report.hang : ""));
  }
  if (report.thrown) {
    const auto left = ended([&] { std::rethrow_exception(report.thrown); });
    if (left != hung) made.doubts.push_back(run + ": the run " + left);
  }
  if (!a_ended.empty() && a_ended != hung) made.doubts.push_back(run + ": a " + a_ended);
}

// Why the two runs together show nothing.
void doubt(tenant_comparison& made) {
  if (made.alone.empty()) {
    made.doubts.emplace_back("a did nothing that could be compared: no command in a context that "
                             "it made, and nothing observed");
  }
  if (!made.b_threw.empty() && made.b_threw != hung && made.faults.fired == 0) {
    made.doubts.push_back("b " + made.b_threw + ", though no fault had struck it");
  }
  for (const auto& each : made.faults.entries) {
    if (each.fired != 0) continue;
    made.doubts.push_back("fault '" + each.name + "' never fired, " + std::to_string(each.matched) +
                          " matches");
  }
}

} // namespace

tenant_comparison compare_tenants(const simulation_options& options, const explored_body& a,
                                  const explored_body& b, const fault_plan& faults_on_b) {
  check(options, faults_on_b);
  tenant_comparison made;
  auto running = options;
  running.faults = faults_on_b;
  for (const bool alone : {true, false}) {
    std::string a_ended;
    std::string b_ended;
    const auto report = try_simulate(running, [&](stage& play) {
      runtime_maker::home_of(play.runtime()).gate()->strike_only(tenant_run::b);
      std::vector<client> tenants;
      tenants.push_back(tenant_run::start(play, tenant_run::a, [&] {
        a_ended = ended([&] { a(play); });
      }));
      if (!alone) {
        tenants.push_back(tenant_run::start(play, tenant_run::b, [&] {
          b_ended = ended([&] { b(play); });
        }));
      }
      for (auto& each : tenants) each.join();
    });
    (alone ? made.alone : made.beside) = trace_of_a(report.record, a_ended);
    if (!alone) made.b_threw = b_ended;
    if (!alone) made.faults = report.faults;
    made.violations.insert(made.violations.end(), report.violations.begin(),
                           report.violations.end());
    doubt(made, report, alone ? alone_text : "beside b", a_ended);
  }
  doubt(made);
  return made;
}

std::string tenant_comparison::difference() const {
  const auto at = std::mismatch(alone.begin(), alone.end(), beside.begin(), beside.end());
  if (at.first == alone.end() && at.second == beside.end()) return {};
  const auto line = [](auto found, auto end) { return found == end ? "nothing more" : *found; };
  return "alone: " + line(at.first, alone.end()) + "\nbeside b: " + line(at.second, beside.end());
}

std::string tenant_comparison::describe() const {
  std::ostringstream text;
  text << "a's " << alone.size() << " lines, " << faults.fired << " faults on b: ";
  const auto differs = difference();
  text << (differs.empty() ? "b made no difference" : "b made a difference\n" + differs);
  if (!b_threw.empty()) text << "\nb " << b_threw;
  for (const auto& each : doubts) text << "\nnot conclusive: " << each;
  for (const auto& each : violations) text << "\n" << troupe::describe(each);
  return std::move(text).str();
}

} // namespace troupe::testing
