#pragma once

#include "examples/digits/tensor_operator.hpp"
#include "examples/digits/weights.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace troupe::digits {

/// The digits network for one batch size, as tables that can be walked: a bare loop allocates one
/// buffer per entry of `tensors()` and runs the steps in order; a device allocates the same buffers
/// in its memory, copies `weights()` there once, and launches each step as a kernel.
///
/// The steps form a chain: each reads the tensor that the one before wrote. Immutable after
/// construction, so several threads may walk one network, each with its own buffers. Copies share
/// the operators.
class network {
public:
  /// A tensor that changes with each batch.
  struct tensor {
    std::string name;
    std::size_t floats;
  };

  /// A tensor that stays, in the prepared form its operator wants.
  struct weight {
    std::string name;
    std::vector<float> values;
  };

  /// `operation->run(tensors[input], {weights...}, tensors[output])`, by index into the tables.
  /// The operator is shared so that a kernel in flight can hold it.
  struct step {
    std::string name;
    std::shared_ptr<const tensor_operator> operation;
    std::size_t input;
    std::vector<std::size_t> weights;
    std::size_t output;
  };

  /// Throws std::runtime_error when `weights` lacks a tensor or has it in another shape, and
  /// dnnl::error when oneDNN cannot serve the batch size. `batch` must be at least 1.
  network(std::int64_t batch, const weight_set& weights);

  std::size_t batch() const noexcept;

  /// The first is the input, [batch, 28, 28] numbers from 0 to 1. The last is the output, [batch,
  /// 10] probabilities.
  std::span<const tensor> tensors() const noexcept;

  std::span<const weight> weights() const noexcept;

  std::span<const step> steps() const noexcept;

  /// All weights as they were trained.
  const weight_set& plain_weights() const noexcept;

private:
  struct plain_weight {
    std::string name;
    std::span<const float> values;
  };

  /// Appends a step that reads the last tensor and writes a new one.
  void add(std::string name, std::shared_ptr<const tensor_operator> operation,
           const std::vector<plain_weight>& weights = {});

  void add_conv_block(const std::string& name, const weight_set& weights, std::uint32_t side,
                      std::uint32_t in, std::uint32_t out);

  void add_dense(const std::string& name, const weight_set& weights, std::uint32_t in,
                 std::uint32_t out, std::span<const float> plain);

  std::int64_t batch_;
  weight_set plain_;
  std::vector<tensor> tensors_;
  std::vector<weight> weights_;
  std::vector<step> steps_;
};

/// The class of largest probability for each row of ten; the first of equals. `picked` has one
/// place a row, or fewer to leave out the last rows.
void pick_classes(std::span<const float> probabilities, std::span<std::uint8_t> picked);

}  // namespace troupe::digits
