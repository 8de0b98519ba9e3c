#include "tests/bench/peers/digits_work.hpp"

#include "examples/digits/bare_loop.hpp"
#include "examples/digits/weights.hpp"

#include <filesystem>
#include <stdexcept>

namespace troupe::bench {

namespace {

constexpr std::int64_t batch = 32;

std::filesystem::path data_file(const char* name) {
  return std::filesystem::path(DIGITS_DATA_DIR) / name;
}

digits::image_set first_images(std::size_t count) {
  auto images = digits::load_image_set(data_file("test_images.idx.gz"),
                                       data_file("test_labels.idx.gz"));
  if (images.size() < count)
    throw std::runtime_error("the digits example has too few images");
  images.pixels.resize(count * digits::image_pixels);
  images.labels.resize(count);
  return images;
}

}  // namespace

digits_work::digits_work(std::size_t count)
  : images(first_images(count)),
    net(std::make_shared<digits::network>(batch,
                                          digits::weight_set::load(data_file("weights.bin")))),
    expected(digits::run_bare_loop(*net, images).predictions) {}

}  // namespace troupe::bench
