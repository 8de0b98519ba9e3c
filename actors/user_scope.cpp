#include "actors/user_scope.hpp"

#include <string>

#include "core/command.hpp"

namespace troupe {

constinit thread_local std::atomic<bool>* user_scope::told_through = nullptr;
constinit thread_local const user_scope::description* user_scope::current = nullptr;

status user_scope::refusal(const char* call) {
  const auto* kind = current->kind == what::callback ? "host callback '" : "kernel '";
  error_record record;
  record.what = code::not_supported;
  record.message = std::string(call) + " is not allowed inside the " + kind + current->name +
                   "'";
  record.stream = current->stream;
  record.task_name = current->name;
  return status(std::move(record));
}

void user_scope::end_payload(command& c, std::uint64_t stream) noexcept {
  const auto kind = c.kind == command_kind::callback ? what::callback : what::kernel;
  const user_scope inside({kind, c.name, stream});
  c.reset();
}

} // namespace troupe
