#include "examples/digits/weights.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string_view>
#include <utility>

namespace troupe::digits {

namespace {

// The file is little-endian, and floats are copied out of it as they stand.
static_assert(std::endian::native == std::endian::little);

constexpr std::string_view magic = "DGTW";
constexpr std::uint32_t version = 1;

// Limits that keep a damaged file from asking for absurd amounts of memory.
constexpr std::uint32_t tensor_count_max = 64;
constexpr std::uint32_t name_length_max = 64;
constexpr std::uint32_t rank_max = 4;
constexpr std::uint32_t dim_max = 65'536;
constexpr std::size_t number_count_max = 16'777'216;

std::string to_text(std::span<const std::uint32_t> dims) {
  std::string text;
  for (const auto dim : dims)
    text += (text.empty() ? "[" : ", ") + std::to_string(dim);
  return text + "]";
}

/// The bytes of a weight file, taken from front to back.
class byte_reader {
public:
  explicit byte_reader(const std::filesystem::path& path) : path_(path.string()) {
    std::ifstream file{path, std::ios::binary};
    if (!file || !std::filesystem::is_regular_file(path))
      fail("cannot be opened, or is no file");
    bytes_.assign(std::istreambuf_iterator<char>{file}, std::istreambuf_iterator<char>{});
  }

  [[noreturn]] void fail(const std::string& what) const {
    throw std::runtime_error(path_ + ": " + what);
  }

  std::string_view take(std::size_t count, const std::string& field) {
    if (count > bytes_.size() - position_)
      fail(field + " needs " + std::to_string(count) + " bytes, but only "
           + std::to_string(bytes_.size() - position_) + " are left");
    const auto taken = std::string_view{bytes_}.substr(position_, count);
    position_ += count;
    return taken;
  }

  std::uint32_t take_u32(const std::string& field, std::uint32_t min, std::uint32_t max) {
    std::uint32_t value = 0;
    std::ranges::copy(take(sizeof value, field), reinterpret_cast<char*>(&value));
    if (value < min || value > max)
      fail(field + " is " + std::to_string(value) + ", must be "
           + (min == max ? std::to_string(min) : std::to_string(min) + " to "
                                                     + std::to_string(max)));
    return value;
  }

  std::vector<float> take_floats(std::size_t count, const std::string& field) {
    const auto bytes = take(count * sizeof(float), field);
    std::vector<float> values(count);
    std::ranges::copy(bytes, reinterpret_cast<char*>(values.data()));
    const auto bad = std::ranges::find_if(values, [](float x) { return !std::isfinite(x); });
    if (bad != values.end())
      fail(field + ": number " + std::to_string(bad - values.begin()) + " is "
           + std::to_string(*bad) + ", must be finite");
    return values;
  }

  void expect_end() const {
    if (position_ != bytes_.size())
      fail(std::to_string(bytes_.size() - position_) + " bytes follow the last tensor, must be 0");
  }

private:
  std::string path_;
  std::string bytes_;
  std::size_t position_ = 0;
};

}  // namespace

weight_set weight_set::load(const std::filesystem::path& path) {
  byte_reader reader{path};
  weight_set result;
  result.source_ = path.string();
  if (reader.take(magic.size(), "magic") != magic)
    reader.fail("magic is not " + std::string{magic});
  reader.take_u32("version", version, version);
  const auto tensor_count = reader.take_u32("tensor count", 1, tensor_count_max);
  for (std::uint32_t index = 0; index < tensor_count; ++index) {
    const auto label = "tensor " + std::to_string(index);
    const auto name_length = reader.take_u32(label + " name length", 1, name_length_max);
    tensor next{std::string{reader.take(name_length, label + " name")}, {}, {}};
    const auto rank = reader.take_u32("tensor " + next.name + " rank", 1, rank_max);
    std::size_t count = 1;
    for (std::uint32_t axis = 0; axis < rank; ++axis) {
      const auto field = "tensor " + next.name + " dim " + std::to_string(axis);
      next.dims.push_back(reader.take_u32(field, 1, dim_max));
      count *= next.dims.back();
      // Checked at each step, so that four large dimensions cannot overflow the product.
      if (count > number_count_max)
        reader.fail(field + " makes " + std::to_string(count) + " numbers, must be at most "
                    + std::to_string(number_count_max));
    }
    next.values = reader.take_floats(count, "tensor " + next.name);
    result.tensors_.push_back(std::move(next));
  }
  reader.expect_end();
  return result;
}

std::span<const float> weight_set::get(const std::string& name,
                                       std::span<const std::uint32_t> dims) const {
  const auto found = std::ranges::find(tensors_, name, &tensor::name);
  if (found == tensors_.end())
    throw std::runtime_error(source_ + ": tensor " + name + " is missing");
  if (!std::ranges::equal(found->dims, dims))
    throw std::runtime_error(source_ + ": tensor " + name + " has shape " + to_text(found->dims)
                             + ", must have " + to_text(dims));
  return found->values;
}

}  // namespace troupe::digits
