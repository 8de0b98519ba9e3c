#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <vector>

namespace troupe::digits {

inline constexpr std::size_t image_side = 28;
inline constexpr std::size_t image_pixels = image_side * image_side;
inline constexpr std::size_t class_count = 10;

/// Grey images of handwritten digits and what they show.
struct image_set {
  std::vector<std::uint8_t> pixels;  ///< image after image, row after row; 0 is background
  std::vector<std::uint8_t> labels;  ///< one per image, 0 to 9

  std::size_t size() const noexcept {
    return labels.size();
  }
};

/// Reads two IDX files of unsigned bytes, packed with gzip or not.
/// Throws std::runtime_error that names file, field, value and limit when a file is missing, is
/// damaged, is too short or too long, has another shape, or when the two counts differ.
image_set load_image_set(const std::filesystem::path& images_path,
                         const std::filesystem::path& labels_path);

/// Turns the images from `first` on into network input: pixel / 255, image after image, until
/// `input` is full. Behind the last image of the set it writes zeros, so that the last batch can be
/// a full one. `first` must be below `images.size()`, `input` a whole number of images.
void fill_batch(const image_set& images, std::size_t first, std::span<float> input);

}  // namespace troupe::digits
