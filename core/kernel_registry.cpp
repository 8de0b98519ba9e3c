#include "core/kernel_registry.hpp"

#include <cstdlib>

#include <cxxabi.h>

namespace troupe {
namespace {

std::string readable(const std::type_info& type) {
  int outcome = 0;
  const std::unique_ptr<char, decltype(&std::free)> text(
      abi::__cxa_demangle(type.name(), nullptr, nullptr, &outcome), &std::free);
  return outcome == 0 && text ? std::string(text.get()) : std::string(type.name());
}

bool serves(const parameter_type& given, const parameter_type& wanted) {
  if (*given.type != *wanted.type) return false;
  return given.what == wanted.what || (given.what == parameter_type::kind::write_span &&
                                       wanted.what == parameter_type::kind::read_span);
}

} // namespace

std::string parameter_type::spelled() const {
  switch (what) {
    case kind::read_span: return "span<const " + readable(*type) + ">";
    case kind::write_span: return "span<" + readable(*type) + ">";
    case kind::value: break;
  }
  return readable(*type);
}

status kernel_registry::add(kernel_entry entry) {
  if (entry.name.empty()) return make_status(code::invalid_parameter, "a kernel's name is empty");
  const std::lock_guard lock(guard_);
  const auto [at, added] =
      entries_.try_emplace(entry.name, std::make_shared<const kernel_entry>(entry));
  if (added) return {};
  return make_status(code::kernel_duplicate, "a kernel named '" + at->first + "' is registered");
}

result<std::shared_ptr<const kernel_entry>> kernel_registry::find(std::string_view name) const {
  const std::lock_guard lock(guard_);
  if (const auto found = entries_.find(name); found != entries_.end()) return found->second;
  return make_status(code::kernel_lookup, "no kernel named '" + std::string(name) +
                                              "' is registered; there are " +
                                              std::to_string(entries_.size()));
}

status check_arguments(const kernel_entry& entry, const std::vector<parameter_type>& given) {
  const auto& wanted = entry.parameters;
  if (given.size() != wanted.size()) {
    return make_status(code::invalid_parameter,
                       "kernel '" + entry.name + "' takes " + std::to_string(wanted.size()) +
                           " arguments, not " + std::to_string(given.size()));
  }
  for (std::size_t i = 0; i < given.size(); ++i) {
    if (serves(given[i], wanted[i])) continue;
    return make_status(code::invalid_parameter,
                       "argument " + std::to_string(i + 1) + " of kernel '" + entry.name +
                           "' is a " + wanted[i].spelled() + ", not a " + given[i].spelled());
  }
  return {};
}

} // namespace troupe
