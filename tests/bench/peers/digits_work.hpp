#pragma once

#include "examples/digits/digits_data.hpp"
#include "examples/digits/network.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace troupe::bench {

/// The work of the row `digits_pipeline`, the same for everyone: the network and the test images of
/// the digits example, in batches of 32. Each contender turns pixels into numbers, runs all steps
/// and picks the classes within the measured time.
struct digits_work {
  /// The first `count` test images. Throws if the example's data cannot be read, or has fewer.
  explicit digits_work(std::size_t count);

  digits::image_set images;
  std::shared_ptr<const digits::network> net;
  std::vector<std::uint8_t> expected;  ///< The classes that the bare loop finds.
};

}  // namespace troupe::bench
