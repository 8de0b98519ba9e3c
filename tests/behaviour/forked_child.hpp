#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <functional>

#include "tests/support/stage.hpp"

namespace troupe {

/// Whether `body` returns true in a forked child, which is killed after `limit_s`.
inline bool holds_in_child(unsigned limit_s, const std::function<bool()>& body) {
  const auto child = ::fork();
  if (child == 0) {
    ::alarm(limit_s);
    ::_exit(body() ? 0 : 1);
  }
  int state = 0;
  if (child < 0 || ::waitpid(child, &state, 0) != child) return false;
  if (WIFSIGNALED(state)) std::fprintf(stderr, "child: signal %d\n", WTERMSIG(state));
  return WIFEXITED(state) && WEXITSTATUS(state) == 0;
}

/// For children, where a failed expectation would reach nobody.
inline bool has_code(const char* call, const status& outcome, code expected) {
  if (outcome.code() == expected) return true;
  std::fprintf(stderr, "child: %s gave %d: %s\n", call, static_cast<int>(outcome.code()),
               outcome.message().c_str());
  return false;
}

} // namespace troupe
