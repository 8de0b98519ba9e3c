#include "core/task.hpp"

#include <functional>
#include <mutex>
#include <set>
#include <string>

namespace troupe {

const char* intern_name(std::string_view name) {
  static constexpr std::size_t names_max = 65'536;
  static std::mutex guard;
  // Never destroyed: error records made by static destructors may still point here.
  static auto& names = *new std::set<std::string, std::less<>>;
  const std::lock_guard lock(guard);
  if (const auto found = names.find(name); found != names.end()) return found->c_str();
  if (names.size() >= names_max) return "(unnamed)";
  return names.emplace(name).first->c_str();
}

} // namespace troupe
