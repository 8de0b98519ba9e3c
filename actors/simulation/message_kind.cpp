#include "actors/simulation/message_kind.hpp"

#include <cxxabi.h>

#include <cstdlib>
#include <map>
#include <mutex>
#include <memory>
#include <typeindex>
#include <typeinfo>

namespace troupe {
namespace {

std::string plain_name(const std::type_info& type) {
  int failed = 0;
  const std::unique_ptr<char, void (*)(void*)> text(
      abi::__cxa_demangle(type.name(), nullptr, nullptr, &failed), &std::free);
  const std::string full = failed == 0 ? text.get() : type.name();
  const auto last = full.rfind("::");
  return last == std::string::npos ? full : full.substr(last + 2);
}

} // namespace

// Names are made once a thread, so that looking one up needs no lock.
const std::string& message_kind_of(caf::mailbox_element& element) {
  // Looked up, never walked through, and never destroyed: a runtime may end as the process does,
  // after what belongs to its main thread.
  static auto& known = *new std::map<std::type_index, std::string>;
  static auto& guard = *new std::mutex;
  const auto& content = element.content();
  // CAF tells the C++ type of ours; its own (exit, down) it tells by number.
  const auto type = content.empty() ? caf::rtti_pair{0, nullptr}
                                    : content.type(0);
  static const auto& caf = *new std::string(kind_of_caf);
  if (type.second == nullptr) return caf;
  const std::lock_guard lock(guard);
  auto& name = known[std::type_index(*type.second)];
  if (name.empty()) name = plain_name(*type.second);
  return name;
}

} // namespace troupe
