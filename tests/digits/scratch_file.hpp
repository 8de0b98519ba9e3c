#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <functional>
#include <stdexcept>
#include <string>

#include <gtest/gtest.h>

namespace troupe::digits {

/// A file that goes away with its test.
class scratch_file {
public:
  scratch_file(const std::string& name, const std::string& bytes)
      : path_(std::filesystem::path(testing::TempDir()) / (test_name() + "." + name)) {
    std::ofstream(path_, std::ios::binary) << bytes;
  }
  scratch_file(const scratch_file&) = delete;
  scratch_file& operator=(const scratch_file&) = delete;
  ~scratch_file() { std::filesystem::remove(path_); }

  [[nodiscard]] const std::filesystem::path& path() const noexcept { return path_; }

private:
  static std::string test_name() {
    return testing::UnitTest::GetInstance()->current_test_info()->name();
  }

  std::filesystem::path path_;
};

/// What `action` complains about; empty if it does not.
inline std::string complaint(const std::function<void()>& action) {
  try {
    action();
  } catch (const std::runtime_error& e) {
    return e.what();
  }
  return {};
}

/// `value` as four bytes, the most significant first.
inline std::string big_endian(std::uint32_t value) {
  std::string bytes;
  for (const auto shift : {24U, 16U, 8U, 0U}) bytes += static_cast<char>(value >> shift & 0xFFU);
  return bytes;
}

/// `value` as four bytes, the least significant first.
inline std::string little_endian(std::uint32_t value) {
  const auto reversed = big_endian(value);
  return {reversed.rbegin(), reversed.rend()};
}

} // namespace troupe::digits
