#include "examples/digits/digits_data.hpp"

#include <array>
#include <fstream>
#include <iterator>

#include <gmock/gmock.h>

#include "tests/digits/scratch_file.hpp"

namespace troupe::digits {
namespace {

using testing::HasSubstr;

const std::filesystem::path data(DIGITS_DATA_DIR);

std::string image_header(std::uint32_t count, std::uint32_t rows = 28, std::uint32_t columns = 28) {
  return big_endian(0x803) + big_endian(count) + big_endian(rows) + big_endian(columns);
}

const std::string two_images = image_header(2) + std::string(2 * image_pixels, '\x33');
const std::string two_labels = big_endian(0x801) + big_endian(2) + "\x07\x09";

std::string complaint_about(const std::string& images, const std::string& labels = two_labels) {
  const scratch_file image_file("images", images);
  const scratch_file label_file("labels", labels);
  return complaint([&] { (void)load_image_set(image_file.path(), label_file.path()); });
}

std::string read_all(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST(digits_data, reads_plain_files) {
  const scratch_file images("images", two_images);
  const scratch_file labels("labels", two_labels);
  const auto read = load_image_set(images.path(), labels.path());
  EXPECT_EQ(read.size(), 2u);
  EXPECT_THAT(read.labels, testing::ElementsAre(7, 9));
  EXPECT_THAT(read.pixels, testing::AllOf(testing::SizeIs(2 * image_pixels), testing::Each(0x33)));
}

TEST(digits_data, reads_the_packed_test_set) {
  const auto read = load_image_set(data / "test_images.idx.gz", data / "test_labels.idx.gz");
  EXPECT_EQ(read.size(), 3000u);
  for (std::uint8_t digit = 0; digit < class_count; ++digit) {
    EXPECT_EQ(std::ranges::count(read.labels, digit), 300) << int{digit};
  }
}

TEST(digits_data, names_a_file_that_is_missing) {
  const auto said = complaint(
      [] { (void)load_image_set(data / "no_such_file", data / "test_labels.idx.gz"); });
  EXPECT_THAT(said, testing::AllOf(HasSubstr("no_such_file"), HasSubstr("cannot be opened")));
}

TEST(digits_data, names_what_is_wrong_in_a_header_with_value_and_limit) {
  EXPECT_THAT(complaint_about(""), HasSubstr("magic: file ends after 0 of 4 bytes"));
  EXPECT_THAT(complaint_about(two_labels), HasSubstr("magic is 2049, must be 2051"));
  EXPECT_THAT(complaint_about(image_header(0)), HasSubstr("item count is 0, must be 1 to 100000"));
  EXPECT_THAT(complaint_about(image_header(0x7F000002)), HasSubstr("item count is 2130706434"));
  EXPECT_THAT(complaint_about(image_header(2, 27)), HasSubstr("rows is 27, must be 28"));
  EXPECT_THAT(complaint_about(image_header(2, 28, 29)), HasSubstr("columns is 29, must be 28"));
}

TEST(digits_data, refuses_files_that_are_too_short_or_too_long) {
  EXPECT_THAT(complaint_about(two_images.substr(0, two_images.size() - 1)),
              HasSubstr("pixels: file ends after 1567 of 1568 bytes"));
  EXPECT_THAT(complaint_about(two_images + "x"), HasSubstr("more bytes follow than the 1568"));
}

TEST(digits_data, refuses_labels_that_do_not_fit) {
  EXPECT_THAT(complaint_about(two_images, big_endian(0x801) + big_endian(2) + "\x07\x0A"),
              HasSubstr("label 1 is 10, must be 0 to 9"));
  EXPECT_THAT(complaint_about(two_images, big_endian(0x801) + big_endian(1) + "\x07"),
              testing::AllOf(HasSubstr("item count is 1"), HasSubstr("has 2 images")));
}

TEST(digits_data, notices_damage_in_a_packed_file) {
  const auto packed = read_all(data / "test_labels.idx.gz");
  ASSERT_GT(packed.size(), 20u);
  const auto load = [](const std::string& bytes) {
    const scratch_file labels("labels", bytes);
    return complaint([&] { (void)load_image_set(data / "test_images.idx.gz", labels.path()); });
  };
  EXPECT_EQ(load(packed), "");
  EXPECT_THAT(load(packed.substr(0, packed.size() / 2)), HasSubstr("damaged or unreadable"));
  auto wrong_checksum = packed;
  wrong_checksum[packed.size() - 6] ^= 1;
  EXPECT_THAT(load(wrong_checksum), HasSubstr("damaged or unreadable"));
}

TEST(digits_data, fills_a_batch_with_scaled_pixels_and_zeros_behind_the_last_image) {
  image_set images;
  images.labels = {1, 2};
  images.pixels.assign(image_pixels, 255);
  images.pixels.resize(2 * image_pixels, 51);
  std::vector<float> input(2 * image_pixels, -1.0F);
  fill_batch(images, 0, input);
  EXPECT_EQ(input.front(), 1.0F);
  EXPECT_EQ(input.back(), 0.2F);
  fill_batch(images, 1, input);
  EXPECT_EQ(input.front(), 0.2F);
  EXPECT_EQ(input[image_pixels], 0.0F);
  EXPECT_EQ(input.back(), 0.0F);
}

} // namespace
} // namespace troupe::digits
