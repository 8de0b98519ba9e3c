#include "examples/digits/digits_data.hpp"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <gsl/gsl>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>

namespace troupe::digits {

namespace {

/// Far above any set of digits, far below what a damaged header could ask us to allocate.
constexpr std::uint32_t image_count_max = 100'000;

constexpr std::uint8_t idx_unsigned_byte = 8;

/// One IDX file, read from front to back.
class idx_reader {
public:
  explicit idx_reader(const std::filesystem::path& path)
    : path_(path.string()), file_(gzopen(path.c_str(), "rb")) {
    if (!file_)
      fail("cannot be opened");
  }

  [[noreturn]] void fail(const std::string& what) const {
    throw std::runtime_error(path_ + ": " + what);
  }

  std::uint32_t read_u32(const char* field) {
    std::array<std::uint8_t, 4> bytes{};
    expect_bytes(field, read(bytes, field), bytes.size());
    std::uint32_t value = 0;
    for (const auto byte : bytes)
      value = value << 8U | byte;
    return value;
  }

  void expect(const char* field, std::uint32_t value, std::uint32_t wanted) const {
    if (value != wanted)
      fail(std::string{field} + " is " + std::to_string(value) + ", must be "
           + std::to_string(wanted));
  }

  /// Reads magic and number of items; the further dimensions are left to the caller.
  std::uint32_t read_header(std::uint32_t rank) {
    expect("magic", read_u32("magic"), idx_unsigned_byte << 8U | rank);
    const auto count = read_u32("item count");
    if (count < 1 || count > image_count_max)
      fail("item count is " + std::to_string(count) + ", must be 1 to "
           + std::to_string(image_count_max));
    return count;
  }

  /// Reads all that is left, which must be `count` bytes. Asks for one byte more, in the same call:
  /// only then does zlib go on to the checksum and notice when that is wrong or cut off.
  std::vector<std::uint8_t> read_rest(std::size_t count, const char* field) {
    std::vector<std::uint8_t> bytes(count + 1);
    const auto got = read(bytes, field);
    expect_bytes(field, got, count);
    if (got > count)
      fail(std::string{field} + ": more bytes follow than the " + std::to_string(count)
           + " that the header announces");
    bytes.resize(count);
    return bytes;
  }

private:
  struct closer {
    void operator()(gzFile_s* file) const noexcept {
      gzclose_r(file);
    }
  };

  /// Returns how many bytes there were. The error is asked for each time, because a short count
  /// alone does not tell a damaged file from one that merely ends early.
  std::size_t read(std::span<std::uint8_t> bytes, const char* field) {
    const int got = gzread(file_.get(), bytes.data(), gsl::narrow<unsigned>(bytes.size()));
    int code = Z_OK;
    std::string_view text = gzerror(file_.get(), &code);
    if (code != Z_OK && code != Z_STREAM_END) {
      if (text.starts_with(path_ + ": "))
        text.remove_prefix(path_.size() + 2);
      fail(std::string{field} + ": damaged or unreadable (" + std::string{text} + ")");
    }
    return gsl::narrow<std::size_t>(got);
  }

  void expect_bytes(const char* field, std::size_t got, std::size_t wanted) const {
    if (got < wanted)
      fail(std::string{field} + ": file ends after " + std::to_string(got) + " of "
           + std::to_string(wanted) + " bytes");
  }

  std::string path_;
  std::unique_ptr<gzFile_s, closer> file_;
};

std::vector<std::uint8_t> load_pixels(const std::filesystem::path& path) {
  idx_reader file{path};
  const auto count = file.read_header(3);
  file.expect("rows", file.read_u32("rows"), image_side);
  file.expect("columns", file.read_u32("columns"), image_side);
  return file.read_rest(count * image_pixels, "pixels");
}

std::vector<std::uint8_t> load_labels(const std::filesystem::path& path) {
  idx_reader file{path};
  const auto labels = file.read_rest(file.read_header(1), "labels");
  const auto bad = std::ranges::find_if(labels, [](auto label) { return label >= class_count; });
  if (bad != labels.end())
    file.fail("label " + std::to_string(bad - labels.begin()) + " is " + std::to_string(*bad)
              + ", must be 0 to " + std::to_string(class_count - 1));
  return labels;
}

}  // namespace

image_set load_image_set(const std::filesystem::path& images_path,
                         const std::filesystem::path& labels_path) {
  image_set result{load_pixels(images_path), load_labels(labels_path)};
  const auto image_count = result.pixels.size() / image_pixels;
  if (result.labels.size() != image_count)
    throw std::runtime_error(labels_path.string() + ": item count is "
                             + std::to_string(result.labels.size()) + ", but "
                             + images_path.string() + " has " + std::to_string(image_count)
                             + " images");
  return result;
}

void fill_batch(const image_set& images, std::size_t first, std::span<float> input) {
  Expects(first < images.size());
  Expects(input.size() % image_pixels == 0);
  const auto begin = first * image_pixels;
  const auto count = std::min(input.size(), images.pixels.size() - begin);
  const auto source = std::span{images.pixels}.subspan(begin, count);
  const auto end = std::ranges::transform(source, input.begin(), [](std::uint8_t pixel) {
    return static_cast<float>(pixel) / 255.0F;
  }).out;
  std::fill(end, input.end(), 0.0F);
}

}  // namespace troupe::digits
