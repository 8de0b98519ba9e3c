#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace troupe::digits {

/// The trained weights as train.py wrote them, all in plain layout: convolutions
/// [out, in, row, column], dense layers [in, out], biases [out].
class weight_set {
public:
  /// Reads a weight file (format: README.md). Throws std::runtime_error that names file, tensor,
  /// value and limit when the file is missing, of another kind, cut off, too long, or when a
  /// number in it is not finite.
  static weight_set load(const std::filesystem::path& path);

  /// The values of one tensor, valid as long as this set is. Throws std::runtime_error that names
  /// file, tensor and both shapes when there is no such tensor or its shape is not `dims`.
  std::span<const float> get(const std::string& name, std::span<const std::uint32_t> dims) const;

private:
  struct tensor {
    std::string name;
    std::vector<std::uint32_t> dims;
    std::vector<float> values;
  };

  std::string source_;
  std::vector<tensor> tensors_;
};

}  // namespace troupe::digits
