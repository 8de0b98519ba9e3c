#include "core/operators/operator_description.hpp"

#include <charconv>
#include <array>

namespace troupe {
namespace {

std::string to_text(const operator_attribute& value) {
  if (const auto* whole = std::get_if<std::int64_t>(&value)) return std::to_string(*whole);
  if (const auto* list = std::get_if<dimensions>(&value)) return troupe::to_text(*list);
  // The shortest text that reads back as the same number.
  std::array<char, 32> text{};
  const auto end = std::to_chars(text.data(), text.data() + text.size(), std::get<double>(value));
  return {text.data(), end.ptr};
}

std::string joined(const std::vector<tensor_layout>& layouts) {
  std::string text;
  for (const auto& each : layouts) text += (text.empty() ? "" : ", ") + troupe::to_text(each);
  return text;
}

} // namespace

std::string to_text(const operator_description& description) {
  std::string attributes;
  for (const auto& [name, value] : description.attributes) {
    attributes += (attributes.empty() ? "" : ", ") + name + "=" + to_text(value);
  }
  auto text = description.name;
  if (!attributes.empty()) text += "{" + attributes + "}";
  text += "(" + joined(description.inputs) + ")";
  if (!description.outputs.empty()) text += " -> " + joined(description.outputs);
  return text;
}

} // namespace troupe
