#pragma once

#include <fstream>

#include <nlohmann/json.hpp>

#include "core/operators/operator_description.hpp"
#include "tests/support/status_matchers.hpp"

/// What numpy computed (make_cases.py).
namespace troupe {

/// f32 against double: sums of at most some twenty products of numbers up to 2.
inline constexpr double case_tolerance = 2e-5;

inline nlohmann::json operator_cases() {
  std::ifstream file(TROUPE_OPERATOR_CASES);
  auto cases = nlohmann::json::parse(file);
  EXPECT_GE(cases.size(), 50U);
  return cases;
}

inline tensor_layout layout_of(const nlohmann::json& from) {
  return tensor_layout::make(element_type::f32, from.at("shape").get<dimensions>()).value();
}

inline operator_description description_of(const nlohmann::json& from) {
  operator_description made;
  made.name = from.at("name");
  for (const auto& [name, value] : from.at("attributes").items()) {
    if (value.is_array()) {
      made.attributes[name] = value.get<dimensions>();
    } else if (value.is_number_float()) {
      made.attributes[name] = value.get<double>();
    } else {
      made.attributes[name] = value.get<std::int64_t>();
    }
  }
  return made;
}

} // namespace troupe
