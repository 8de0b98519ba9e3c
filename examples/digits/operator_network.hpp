#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include <troupe/operators/executable_operators.hpp>
#include <troupe/troupe.hpp>

#include "examples/digits/network.hpp"

namespace troupe::digits {

/// The digits network as operators of the library, with its weights in the memory of one context.
/// They form a chain. Immutable after construction.
class operator_network {
public:
  /// One operator: it reads what the one before wrote, and then its weights.
  struct row {
    operator_description what;
    std::vector<std::size_t> weights; ///< places in `weights()`
  };

  /// Copies the weights and waits for it. Throws `troupe::error`.
  operator_network(const context& home, const network& net);

  [[nodiscard]] std::size_t batch() const noexcept { return batch_; }
  [[nodiscard]] std::span<const row> rows() const noexcept { return rows_; }
  [[nodiscard]] std::span<const tensor> weights() const noexcept { return weights_; }

  /// A tensor for a batch of images, [batch, 1, 28, 28], and one for what comes out, [batch, 10].
  [[nodiscard]] tensor make_images(const context& home) const;
  [[nodiscard]] tensor make_probabilities(const context& home) const;

private:
  std::size_t batch_;
  std::vector<row> rows_;
  std::vector<tensor> weights_;
};

/// The network as one graph between two tensors, its operators put together as far as it goes:
/// a batch is one replay. Shared handles; one batch at a time.
struct graph_batch {
  graph_batch(const context& home, const operator_network& net);

  tensor images;
  tensor probabilities;
  executable_operators run;
};

} // namespace troupe::digits
