#include "troupe/current.hpp"

#include "actors/ask.hpp"
#include "api/src/binding.hpp"
#include "api/src/states.hpp"

namespace troupe::current {

result<troupe::context> context() {
  auto bound = binding::get();
  if (!bound) return bound.error();
  return troupe::context(std::move(bound).value());
}

void unbind() noexcept { binding::set(nullptr); }

result<stream> default_stream() {
  auto bound = context();
  if (!bound) return bound.error();
  return bound.value().default_stream();
}

result<memory_info> memory() {
  auto bound = binding::get();
  if (!bound) return bound.error();
  auto& home = *bound.value()->home;
  if (auto s = may_call(home, "current::memory"); !s.ok()) return s;
  return ask<result<memory_info>>(home, bound.value()->record->device().memory_keeper,
                                  "current::memory",
                                  [](auto answer) { return settle_memory{std::move(answer)}; });
}

status synchronize(timeout limit) {
  auto bound = context();
  if (!bound) return bound.error();
  return bound.value().synchronize(limit);
}

} // namespace troupe::current
