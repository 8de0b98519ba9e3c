#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include <troupe/troupe.hpp>

#include "examples/digits/network.hpp"

namespace troupe::digits {

/// A network with its weights in the memory of one context, its operators ready to be launched
/// there. Immutable after construction.
class device_network {
public:
  /// Copies the weights and waits for it. Throws `troupe::error`. Operators may have one weight at
  /// most.
  device_network(const context& home, std::shared_ptr<const network> net);

  [[nodiscard]] std::size_t batch() const noexcept { return net_->batch(); }

  [[nodiscard]] std::span<const network::tensor> tensors() const noexcept {
    return net_->tensors();
  }

  /// Number of operators. Operator `index` reads tensor `index` and writes tensor `index + 1`.
  [[nodiscard]] std::size_t size() const noexcept { return launches_.size(); }

  /// Launches operator `index` on `s` under its own name. The memory must be of the context given
  /// to the constructor, and of the size that the operator wants.
  status launch(stream& s, std::size_t index, device_span<const float> input,
                device_span<float> output) const;

private:
  struct launch_parts {
    task name;
    std::shared_ptr<const tensor_operator> operation;
    device_span<const float> weight; ///< empty if there is none
  };

  std::shared_ptr<const network> net_;
  std::vector<buffer<float>> weights_;
  std::vector<launch_parts> launches_;
};

} // namespace troupe::digits
