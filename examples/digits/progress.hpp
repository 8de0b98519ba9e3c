#pragma once

#include <cstddef>
#include <string>

namespace troupe::digits {

/// A bar on stderr that shows how far the work has come; silent when stderr is no terminal. Its
/// line is wiped when it ends.
class progress {
public:
  explicit progress(std::size_t total);
  progress(const progress&) = delete;
  progress& operator=(const progress&) = delete;
  ~progress();

  /// Says that the next part of the work begins.
  void begin(const std::string& what);

private:
  std::size_t total_;
  std::size_t begun_ = 0;
  bool visible_;
};

} // namespace troupe::digits
