#pragma once

#include <cstddef>
#include <memory>

namespace troupe::bench {

/// The digits network as bare oneDNN primitives, executed one after the other in a loop, in place:
/// no runtime, no copies. Belongs to one thread.
class digits_loop {
public:
  digits_loop();
  ~digits_loop();
  digits_loop(const digits_loop&) = delete;
  digits_loop& operator=(const digits_loop&) = delete;

  /// Classifies `images` images, rounded up to whole batches.
  void classify(std::size_t images);

private:
  struct network;
  std::unique_ptr<network> network_;
};

}  // namespace troupe::bench
