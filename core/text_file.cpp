#include "core/text_file.hpp"

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <ios>
#include <system_error>

#include <gsl/gsl>

namespace troupe {

result<std::string> read_text_file(const std::string& path) {
  constexpr std::size_t bytes_max = std::size_t{1} << 20;
  const auto refused = [&path](const std::string& why) {
    return make_status(code::invalid_file, path + ": cannot read the file: " + why);
  };
  // Opening a pipe or a device could wait for ever.
  std::error_code unknown;
  const auto kind = std::filesystem::status(path, unknown);
  const bool is_tree = std::filesystem::is_directory(kind); // refused when it is read
  if (std::filesystem::exists(kind) && !std::filesystem::is_regular_file(kind) && !is_tree) {
    return refused("it is no regular file");
  }
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  if (!file) return refused(std::generic_category().message(errno));
  std::string text(bytes_max + 1, '\0');
  file.read(text.data(), gsl::narrow<std::streamsize>(text.size()));
  if (file.bad()) return refused(std::generic_category().message(errno));
  text.resize(gsl::narrow<std::size_t>(file.gcount()));
  if (text.size() > bytes_max) return refused("it has more than 1048576 bytes");
  return text;
}

} // namespace troupe
