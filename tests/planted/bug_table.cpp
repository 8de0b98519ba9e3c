#include "tests/planted/bug_table.hpp"

#include <algorithm>
#include <cstddef>
#include <fstream>
#include <map>
#include <sstream>
#include <stdexcept>

namespace troupe::planted {
namespace {

[[noreturn]] void refuse(std::size_t line, const std::string& why) {
  throw std::runtime_error("planted bugs, line " + std::to_string(line) + ": " + why);
}

void check_complete(const std::vector<bug>& bugs, std::size_t line) {
  if (bugs.empty()) return;
  const auto& last = bugs.back();
  if (last.what.empty() || last.job.empty() || last.edits.empty()) {
    refuse(line, "bug '" + last.name + "' ends without a sentence, a job or an edit");
  }
  for (const auto& each : last.edits) {
    if (each.right.empty()) refuse(line, "an edit of bug '" + last.name + "' has no right text");
  }
}

void read_line(std::vector<bug>& bugs, const std::string& key, std::string value,
               std::size_t line) {
  if (key == "bug") {
    check_complete(bugs, line);
    const auto same = [&](const bug& each) { return each.name == value; };
    if (std::any_of(bugs.begin(), bugs.end(), same)) refuse(line, "'" + value + "' comes twice");
    bugs.push_back({std::move(value), {}, {}, {}});
    return;
  }
  if (bugs.empty()) refuse(line, "'" + key + "' stands before the first bug");
  auto& current = bugs.back();
  if (key == "what") {
    current.what = std::move(value);
  } else if (key == "job") {
    current.job = std::move(value);
  } else if (key == "in") {
    current.edits.push_back({std::move(value), {}, {}});
  } else if ((key == "right" || key == "wrong") && !current.edits.empty()) {
    auto& edit = current.edits.back();
    (key == "right" ? edit.right : edit.wrong) = std::move(value);
  } else {
    refuse(line,
           "'" + key + "' is not one of bug, what, job, in, right, wrong, or comes too early");
  }
}

// All wrong variants of one piece of text.
struct site {
  std::string right;
  std::vector<std::pair<std::size_t, std::string>> wrongs; // by number of the bug
};

std::string chosen(const site& here) {
  const bool statement = here.right.back() == ';' || here.right.back() == '}';
  std::string text;
  for (const auto& [number, wrong] : here.wrongs) {
    const auto condition = "troupe::planted_bug() == " + std::to_string(number);
    text += statement ? "if (" + condition + ") { " + wrong + " } else "
                      : "(" + condition + " ? (" + wrong + ") : ";
  }
  if (statement) return text + "{ " + here.right + " }";
  return text + "(" + here.right + ")" + std::string(here.wrongs.size(), ')');
}

} // namespace

std::vector<bug> parse_bugs(std::string_view text) {
  std::vector<bug> bugs;
  std::istringstream lines{std::string(text)};
  std::size_t number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    if (line.empty() || line.front() == '#') continue;
    const auto blank = std::min(line.find(' '), line.size());
    read_line(bugs, line.substr(0, blank),
              blank < line.size() ? line.substr(blank + 1) : std::string(), number);
  }
  check_complete(bugs, number);
  return bugs;
}

std::string plant(const std::string& file, std::string_view text, const std::vector<bug>& bugs) {
  std::map<std::size_t, site> sites; // by offset
  for (std::size_t i = 0; i < bugs.size(); ++i) {
    for (const auto& each : bugs[i].edits) {
      if (each.file != file) continue;
      const auto complain = [&](const std::string& why) {
        throw std::runtime_error("planted bug '" + bugs[i].name + "': the text\n  " + each.right +
                                 "\n" + why + " " + file);
      };
      const auto at = text.find(each.right);
      if (at == std::string_view::npos) complain("is no longer found in");
      if (text.find(each.right, at + 1) != std::string_view::npos) complain("is found twice in");
      auto& here = sites[at];
      if (!here.right.empty() && here.right != each.right) complain("overlaps another bug's in");
      here.right = each.right;
      here.wrongs.emplace_back(i + 1, each.wrong);
    }
  }
  std::string made;
  std::size_t done = 0;
  for (const auto& [at, here] : sites) {
    if (at < done) {
      throw std::runtime_error("planted bugs overlap in " + file + " at\n  " + here.right);
    }
    made.append(text, done, at - done);
    made += chosen(here);
    done = at + here.right.size();
  }
  made.append(text, done, std::string_view::npos);
  return made;
}

std::string read_text(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  if (!file) throw std::runtime_error("cannot read " + path);
  return std::move(text).str();
}

} // namespace troupe::planted
