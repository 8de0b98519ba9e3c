#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include <troupe/troupe.hpp>

#include "examples/digits/answers.hpp"
#include "examples/digits/digits_data.hpp"
#include "examples/digits/network.hpp"

namespace troupe::digits {

/// What putting operators together saves.
struct savings {
  std::uint64_t launches = 0;
  std::uint64_t bytes = 0; ///< of tensors between operators, written and read
};

/// What every step of the rebuilt pipeline gets to work with.
struct workshop {
  const troupe::runtime& runtime;
  troupe::device device;
  std::shared_ptr<const network> net;
  std::size_t streams; ///< for steps that use several; at least 1
  std::size_t buffers; ///< sets of buffers at most, for steps with a bounded number of them
};

/// One way to classify images. Made once, with its weights and lasting buffers in place, then run
/// any number of times; one thread at a time.
class pipeline_step {
public:
  pipeline_step() = default;
  pipeline_step(const pipeline_step&) = delete;
  pipeline_step& operator=(const pipeline_step&) = delete;
  virtual ~pipeline_step() = default;

  /// Classifies all images; nothing is in flight when it returns. Throws `troupe::error` for the
  /// first failing status.
  virtual answers run(const image_set& images) = 0;

  /// Allocations so far from pools that the step owns.
  [[nodiscard]] virtual std::uint64_t pool_allocations() const { return 0; }

  /// Of each batch, against the same operators one by one.
  [[nodiscard]] virtual savings saved() const { return {}; }
};

} // namespace troupe::digits
