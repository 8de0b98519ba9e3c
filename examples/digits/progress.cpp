#include "examples/digits/progress.hpp"

#include <algorithm>
#include <cstdio>

#include <fmt/format.h>
#include <unistd.h>

namespace troupe::digits {

namespace {

constexpr std::size_t width = 30;
constexpr auto wipe_line = "\r\x1b[K";

} // namespace

progress::progress(std::size_t total)
    : total_(std::max<std::size_t>(total, 1)), visible_(isatty(STDERR_FILENO) == 1) {}

progress::~progress() {
  if (visible_) std::fputs(wipe_line, stderr);
}

void progress::begin(const std::string& what) {
  const auto done = std::min(begun_++, total_);
  if (!visible_) return;
  const auto filled = width * done / total_;
  fmt::print(stderr, "{}[{:#<{}}{:.<{}}] {}/{} {}", wipe_line, "", filled, "", width - filled, done,
             total_, what);
  std::fflush(stderr);
}

} // namespace troupe::digits
