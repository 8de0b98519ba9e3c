// Copies the library's sources with all planted bugs in them.
// Usage: troupe_plant BUGS PROJECT_ROOT TARGET_FOLDER

#include <exception>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <set>
#include <stdexcept>
#include <string>

#include "tests/planted/bug_table.hpp"

namespace troupe::planted {
namespace {

namespace fs = std::filesystem;

bool is_source(const fs::path& path) {
  return path.extension() == ".hpp" || path.extension() == ".cpp";
}

// What has not changed stays as it is, so that it is not compiled again.
void write_if_other(const fs::path& path, const std::string& text) {
  if (fs::exists(path) && read_text(path.string()) == text) return;
  fs::create_directories(path.parent_path());
  std::ofstream file(path, std::ios::binary);
  if (!(file << text << std::flush)) throw std::runtime_error("cannot write " + path.string());
}

void plant_tree(const std::vector<bug>& bugs, const fs::path& root, const fs::path& target) {
  std::set<std::string> seen;
  for (const auto* layer : {"core", "actors", "api"}) {
    for (const auto& entry : fs::recursive_directory_iterator(root / layer)) {
      if (!is_source(entry.path())) continue;
      const auto name = fs::relative(entry.path(), root).generic_string();
      seen.insert(name);
      write_if_other(target / name, plant(name, read_text(entry.path().string()), bugs));
    }
  }
  for (const auto& bug : bugs) {
    for (const auto& edit : bug.edits) {
      if (seen.contains(edit.file)) continue;
      throw std::runtime_error("planted bug '" + bug.name + "': there is no file " + edit.file);
    }
  }
}

} // namespace
} // namespace troupe::planted

int main(int count, char** arguments) {
  if (count != 4) {
    std::cerr << "usage: troupe_plant BUGS PROJECT_ROOT TARGET_FOLDER\n";
    return 2;
  }
  try {
    using namespace troupe::planted;
    plant_tree(parse_bugs(read_text(arguments[1])), arguments[2], arguments[3]);
  } catch (const std::exception& e) {
    std::cerr << e.what() << '\n';
    return 1;
  }
}
