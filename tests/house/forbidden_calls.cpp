#include "tests/house/forbidden_calls.hpp"

#include <algorithm>

namespace troupe::house {

namespace {

constexpr auto npos = std::string_view::npos;

bool starts_with_any(std::string_view path, const std::vector<std::string_view>& prefixes) {
  return std::ranges::any_of(prefixes,
                             [&](std::string_view prefix) { return path.starts_with(prefix); });
}

/// `find_word` for a use. "rand(" finds `rand (` as well, and no `srand(`; a word that `::` follows
/// only names a member of a type, as `std::thread::id` does, and makes nothing.
std::size_t find_use(std::string_view code, std::string_view word, std::size_t from) {
  const bool call = word.ends_with('(');
  const auto name = call ? word.substr(0, word.size() - 1) : word;
  for (auto at = find_word(code, name, from); at != npos; at = find_word(code, name, at + 1)) {
    const auto next = std::min(code.find_first_not_of(" \n", at + name.size()), code.size());
    const auto rest = code.substr(next);
    if (call ? rest.starts_with('(') : !rest.starts_with("::")) return at;
  }
  return npos;
}

}  // namespace

const std::vector<forbidden_rule>& forbidden_rules() {
  static const std::vector<std::string_view> library{"core/", "actors/", "api/"};
  static const std::vector<forbidden_rule> rules{
      {"reading a clock",
       {"_clock::now", "clock_gettime", "gettimeofday", "std::time(", "timespec_get"},
       library,
       {"actors/scheduling/clock."}},
      {"making a thread",
       {"std::thread", "std::jthread", "std::async", "pthread_create"},
       library,
       {"actors/scheduling/lane.", "actors/simulation/player_thread."}},
      {"sleeping",
       {"sleep_for", "sleep_until", "usleep", "nanosleep", "sleep("},
       {"core/", "actors/", "api/", "examples/"},
       {}},
      {"blocking",
       {"condition_variable", "condition_variable_any", "SYS_futex", "futex(", ".notify_one(",
        ".notify_all(", "->notify_one(", "->notify_all(", "std::latch", "std::barrier",
        "std::counting_semaphore", "std::binary_semaphore", "std::future", "std::promise"},
       library,
       {"actors/scheduling/lane.", "actors/scheduling/completion.",
        "actors/simulation/player_thread."}},
      {"chance without a seed",
       {"random_device", "mt19937", "mt19937_64", "default_random_engine", "minstd_rand", "rand(",
        "srand(", "drand48(", "getrandom("},
       library,
       {}},
      {"unordered iteration",
       {"unordered_map", "unordered_set", "unordered_multimap", "unordered_multiset"},
       library,
       {}},
      {"printing",
       {"std::cout", "std::cerr", "std::clog", "printf(", "fprintf(", "puts(", "fputs(", "putchar(",
        "perror(", "aout(", "fmt::print"},
       library,
       {"actors/faults/environment.", "api/troupe/testing_gtest."}},
      {"an actor with a thread of its own",
       {"detached", "blocking_actor", "scoped_actor"},
       library,
       {}},
      // What follows would let a simulated run depend on more than its seed.
      {"an order or a number of addresses, threads, processes or machines",
       {"uintptr_t", "owner_before", "owner_less", ".get() <", ".get() >", "std::hash", "get_id(",
        "getpid(", "gettid(", "node_id", "host_id"},
       library,
       // Copies ask whether ranges overlap and are aligned, on which no outcome depends; the books
       // ask which ranges overlap, and their answers are in the order of nodes and of copies.
       {"actors/arena.", "actors/copy_loop.", "actors/copy_extent.", "actors/copy_ranges.",
        "core/copies/vector_conversion.", "core/dataflow/dependency_book.",
        "core/dataflow/placement_book.",
        "api/acl/src/other_processes."}},
      {"what this machine has",
       {"hardware_concurrency(", "sysconf("},
       library,
       {"actors/machine.cpp", "actors/arena."}},
      {"a stream of CAF's, which sort by address",
       {"make_source(", "make_stage(", "make_sink(", "attach_stream_source(",
        "attach_stream_stage(", "attach_stream_sink(", "caf::stream"},
       library,
       {}},
      {"time or order that CAF decides",
       {"delayed_send(", "delayed_anon_send(", "message_priority"},
       library,
       {}},
      {"spawning past the spawn function",
       {"spawn(", ".spawn<", "->spawn<", "caf::spawn"},
       library,
       {"actors/scheduling/spawn.hpp"}},
  };
  return rules;
}

std::vector<finding> ordered_by_address(const source_file& file,
                                       const std::vector<std::string_view>& owners) {
  std::vector<finding> findings;
  if (starts_with_any(file.path, owners)) return findings;
  const auto code = blank(file.text);
  for (const std::string_view container :
       {"map<", "set<", "multimap<", "multiset<", "priority_queue<"}) {
    for (auto at = find_word(code, container, 0); at != npos;
         at = find_word(code, container, at + 1)) {
      const auto begin = at + container.size();
      const auto key = code.substr(begin, code.find_first_of(",>", begin) - begin);
      const bool address = key.find('*') != npos || key.find("_ptr<") != npos ||
                           key.find("caf::actor") != npos || key.find("_actor_ptr") != npos;
      if (address) findings.push_back({file.path, line_of(code, at), "ordered by " + key});
    }
  }
  return findings;
}

std::vector<finding> forbidden_calls(const source_file& file,
                                     const std::vector<forbidden_rule>& rules) {
  std::vector<finding> findings;
  const auto code = blank(file.text);
  for (const auto& rule : rules) {
    if (!starts_with_any(file.path, rule.scope) || starts_with_any(file.path, rule.owners)) {
      continue;
    }
    for (const auto word : rule.words) {
      for (auto at = find_use(code, word, 0); at != npos; at = find_use(code, word, at + 1)) {
        findings.push_back(
            {file.path, line_of(code, at), std::string(rule.what) + ": " + std::string(word)});
      }
    }
  }
  return findings;
}

}  // namespace troupe::house
