// Looks for the planted bugs and prints how each was found.

#include <cstdint>
#include <exception>
#include <iostream>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/planted/finder.hpp"

namespace troupe::planted {
namespace {

constexpr std::uint64_t lines_max = 3;
constexpr std::size_t width_max = 90; // of the table's last column

struct wishes {
  std::uint64_t runs = 10'000;
  std::string bug; ///< "none": the runtime as it is; empty: list them
};

constexpr const char* usage = "usage: troupe_planted_bugs --list | --bug NAME [--runs N]\n";

wishes read_wishes(const std::vector<std::string>& words) {
  if (words == std::vector<std::string>{"--list"}) return {};
  wishes made;
  for (std::size_t i = 0; i + 1 < words.size(); i += 2) {
    const auto& value = words[i + 1];
    if (words[i] == "--bug") {
      made.bug = value;
    } else if (words[i] != "--runs") {
      throw std::runtime_error("unknown argument: " + words[i]);
    } else if (value.empty() || value.size() > 9 ||
               value.find_first_not_of("0123456789") != std::string::npos) {
      throw std::runtime_error("--runs is '" + value + "'; it is a number below 10^9");
    } else {
      made.runs = std::stoull(value);
    }
  }
  if (words.size() % 2 != 0 || made.bug.empty()) throw std::runtime_error("--bug NAME is missing");
  return made;
}

const job& job_called(const std::string& name) {
  for (const auto& each : all_jobs()) {
    if (each.name == name) return each;
  }
  throw std::runtime_error("there is no job '" + name + "'");
}

// Whether every job passes with the runtime as it is.
bool sound(std::uint64_t runs) {
  bool all = true;
  for (const auto& each : all_jobs()) {
    const auto found = find_bug(0, each, runs);
    if (found) std::cout << each.name << " fails without a bug: " << found->what << '\n';
    all = all && !found;
  }
  if (all) std::cout << "Without a bug all jobs pass " << runs << " runs each.\n";
  return all;
}

// A row of the table; whether the bug was found and its script is small.
bool tell(const bug& planted, int number, std::uint64_t runs) {
  const auto found = find_bug(number, job_called(planted.job), runs);
  std::cout << "| `" << planted.name << "` | ";
  if (!found) {
    std::cout << "not found | " << runs << " | | |\n";
    return false;
  }
  const auto script = found->script.empty() ? std::string() : "`" + found->script + "`";
  const auto both = !found->fault.empty() && !script.empty();
  std::cout << found->strategy << " | " << found->runs << " | " << found->lines << " | "
            << found->fault << (both ? "; " : "") << script << " | "
            << found->what.substr(0, width_max)
            << (found->what.size() > width_max ? " ..." : "") << " |\n";
  return found->lines <= lines_max;
}

int run(const std::vector<std::string>& words) {
  const auto wanted = read_wishes(words);
  if (wanted.bug == "none") return sound(wanted.runs) ? 0 : 1;
  const auto bugs = parse_bugs(read_text(TROUPE_PLANTED_BUGS));
  for (std::size_t i = 0; i < bugs.size(); ++i) {
    if (wanted.bug.empty()) std::cout << bugs[i].name << ": " << bugs[i].what << '\n';
    if (wanted.bug == bugs[i].name) {
      return tell(bugs[i], static_cast<int>(i) + 1, wanted.runs) ? 0 : 1;
    }
  }
  if (!wanted.bug.empty()) {
    throw std::runtime_error("there is no bug '" + wanted.bug + "'; --list names them");
  }
  return 0;
}

} // namespace
} // namespace troupe::planted

int main(int count, char** arguments) {
  try {
    return troupe::planted::run({arguments + 1, arguments + count});
  } catch (const std::exception& e) {
    std::cerr << e.what() << '\n' << troupe::planted::usage;
    return 2;
  }
}
