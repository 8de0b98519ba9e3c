#pragma once

#include <cstdlib>
#include <fstream>
#include <string>

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

/// Runs `body` in a child process, as the interface begins once in a process. Its result is the
/// child's exit code: 0 is right.
template <class Body>
int in_child(Body body) {
  const auto child = fork();
  if (child == 0) {
    alarm(60);
    std::exit(body());
  }
  int end = 0;
  if (waitpid(child, &end, 0) != child || !WIFEXITED(end)) return -1;
  return WEXITSTATUS(end);
}

/// A file with `text`, gone with the object.
struct file {
  explicit file(const std::string& text) { std::ofstream(path) << text; }
  ~file() { (void)::unlink(path.c_str()); }
  file(const file&) = delete;
  file& operator=(const file&) = delete;
  std::string path = testing::TempDir() + "troupe_acl_init_" + std::to_string(::getpid()) + ".json";
};
