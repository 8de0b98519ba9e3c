#include "examples/digits/weights.hpp"

#include <array>
#include <bit>
#include <limits>

#include <gmock/gmock.h>

#include "tests/digits/scratch_file.hpp"

namespace troupe::digits {
namespace {

using testing::HasSubstr;

constexpr std::array<std::uint32_t, 2> shape{1, 2};

std::string number(float value) { return little_endian(std::bit_cast<std::uint32_t>(value)); }

std::string header(std::uint32_t tensors, std::uint32_t version = 1) {
  return "DGTW" + little_endian(version) + little_endian(tensors);
}

std::string tensor_head(const std::vector<std::uint32_t>& dims) {
  auto bytes = little_endian(1) + "w" + little_endian(static_cast<std::uint32_t>(dims.size()));
  for (const auto dim : dims) bytes += little_endian(dim);
  return bytes;
}

const std::string good = header(1) + tensor_head({1, 2}) + number(0.5F) + number(-2.0F);

std::string complaint_about(const std::string& bytes) {
  const scratch_file file("weights", bytes);
  return complaint([&] { (void)weight_set::load(file.path()); });
}

TEST(weights, reads_a_tensor_by_name_and_shape) {
  const scratch_file file("weights", good);
  EXPECT_THAT(weight_set::load(file.path()).get("w", shape), testing::ElementsAre(0.5F, -2.0F));
}

TEST(weights, names_a_tensor_that_is_missing_or_of_another_shape) {
  const scratch_file file("weights", good);
  const auto read = weight_set::load(file.path());
  EXPECT_THAT(complaint([&] { (void)read.get("v", shape); }), HasSubstr("tensor v is missing"));
  const std::array<std::uint32_t, 2> turned{2, 1};
  EXPECT_THAT(complaint([&] { (void)read.get("w", turned); }),
              HasSubstr("tensor w has shape [1, 2], must have [2, 1]"));
}

TEST(weights, names_what_is_wrong_in_the_file) {
  EXPECT_THAT(complaint([] { (void)weight_set::load("no_such_file"); }),
              HasSubstr("no_such_file: cannot be opened"));
  EXPECT_THAT(complaint_about("DGTX"), HasSubstr("magic is not DGTW"));
  EXPECT_THAT(complaint_about(header(1, 2)), HasSubstr("version is 2, must be 1"));
  EXPECT_THAT(complaint_about(header(65)), HasSubstr("tensor count is 65, must be 1 to 64"));
  EXPECT_THAT(complaint_about(header(1) + little_endian(0)),
              HasSubstr("tensor 0 name length is 0, must be 1 to 64"));
  EXPECT_THAT(complaint_about(header(1) + tensor_head({1, 1, 1, 1, 1})),
              HasSubstr("tensor w rank is 5, must be 1 to 4"));
  EXPECT_THAT(complaint_about(header(1) + tensor_head({65'537})),
              HasSubstr("tensor w dim 0 is 65537, must be 1 to 65536"));
  EXPECT_THAT(complaint_about(header(1) + tensor_head({65'536, 65'536, 65'536, 65'536})),
              HasSubstr("tensor w dim 1 makes 4294967296 numbers, must be at most 16777216"));
}

TEST(weights, refuses_files_that_are_cut_off_too_long_or_hold_no_number) {
  EXPECT_THAT(complaint_about(good.substr(0, good.size() - 1)),
              HasSubstr("tensor w needs 8 bytes, but only 7 are left"));
  EXPECT_THAT(complaint_about(good + ".."), HasSubstr("2 bytes follow the last tensor"));
  const auto nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_THAT(complaint_about(header(1) + tensor_head({2}) + number(0) + number(nan)),
              HasSubstr("tensor w: number 1 is nan, must be finite"));
}

} // namespace
} // namespace troupe::digits
