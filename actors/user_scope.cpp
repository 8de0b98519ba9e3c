#include "actors/user_scope.hpp"

#include <string>

namespace troupe {

constinit thread_local std::atomic<bool>* user_scope::told_through = nullptr;
constinit thread_local const user_scope::description* user_scope::current = nullptr;

status user_scope::refusal(const char* call) {
  const auto* kind = current->kind == what::callback ? "host callback '" : "kernel '";
  error_record record;
  record.what = code::not_supported;
  record.message = std::string(call) + " is not allowed inside the " + kind + current->name +
                   "' of stream " + std::to_string(current->stream);
  record.stream = current->stream;
  record.task_name = current->name;
  return status(std::move(record));
}

} // namespace troupe
