#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/fusion/operator_program.hpp"

namespace troupe::equivalence {

/// A legal program of operators with values for what it is given. Values are small whole numbers, and
/// sums stay below 2^22, so that products and sums are exact in f32 in whatever order they are
/// computed; what comes of other functions is known up to `error`.
struct random_program {
  struct facts {
    double bound = 0; ///< no element is larger
    double error = 0; ///< by how much two right results may differ; 0: they are equal
  };

  std::uint64_t seed = 0;
  operator_program what;        ///< outputs are kept
  std::vector<facts> known;     ///< by tensor
  std::vector<std::vector<float>> values; ///< by tensor; empty for what operators write
  std::vector<std::vector<float>> others; ///< the same, with other values for what is not constant

  /// Its operators, one a line.
  [[nodiscard]] std::string describe() const;
};

/// The program of a seed, always the same.
[[nodiscard]] random_program make_program(std::uint64_t seed);

} // namespace troupe::equivalence
