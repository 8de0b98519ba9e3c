#include "core/task.hpp"

#include <functional>
#include <mutex>
#include <set>
#include <string>

namespace troupe {
namespace {

struct name_table {
  std::mutex guard;
  std::set<std::string, std::less<>> names;
};

// Never destroyed: error records made by static destructors may still point into it.
name_table& all_names() {
  static auto& table = *new name_table;
  return table;
}

} // namespace

const char* intern_name(std::string_view name) {
  static constexpr std::size_t names_max = 65'536;
  auto& [guard, names] = all_names();
  const std::lock_guard lock(guard);
  if (const auto found = names.find(name); found != names.end()) return found->c_str();
  if (names.size() >= names_max) return "(unnamed)";
  return names.emplace(name).first->c_str();
}

void detail::hold_names() { all_names().guard.lock(); }

void detail::release_names() { all_names().guard.unlock(); }

} // namespace troupe
