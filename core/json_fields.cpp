#include "core/json_fields.hpp"

#include <charconv>
#include <cmath>
#include <optional>
#include <set>
#include <type_traits>
#include <utility>

#include <nlohmann/json.hpp>

namespace troupe {
namespace {

// Values of a foreign file go into messages; a message stays a line that can be read.
std::string shorten(std::string_view text) {
  constexpr std::size_t bytes_max = 200;
  if (text.size() <= bytes_max) return std::string(text);
  return std::string(text.substr(0, bytes_max)) + "...";
}

bool keeps(const field_rule& rule, double value) {
  const bool large_enough = rule.above_least ? value > rule.least : value >= rule.least;
  return large_enough && value <= rule.most; // false for a NaN
}

// Those who read a name as C does would take it for a shorter one.
bool keeps(const field_rule& rule, const std::string& text) {
  return keeps(rule, static_cast<double>(text.size())) && text.find('\0') == text.npos;
}

bool is_text(const bound_field& field) {
  return std::holds_alternative<std::string*>(field.target);
}

bool is_real(const bound_field& field) {
  return std::holds_alternative<double*>(field.target);
}

std::string show_value(const bound_field& field) {
  if (is_real(field)) return show_number(*std::get<double*>(field.target));
  return std::visit([](const auto* target) {
    return show_json(nlohmann::json(*target));
  }, field.target);
}

status refuse(std::string_view label, std::string_view value, const bound_field& field) {
  return make_status(code::invalid_parameter, std::string(label) + ": " + std::string(value) +
                                                  " is not " + allowed_values(field));
}

// `value` is known to keep the rule and, for the integer types, to be whole.
void assign_number(double value, const bound_field& field) {
  std::visit([value](auto* target) {
    using type = std::remove_pointer_t<decltype(target)>;
    if constexpr (!std::is_same_v<type, std::string>) *target = gsl::narrow<type>(value);
  }, field.target);
}

status unknown_field(std::string_view name, const nlohmann::json& value,
                     gsl::span<const bound_field> fields, std::string_view also_known) {
  std::string known(also_known);
  for (const auto& field : fields) {
    if (!known.empty()) known += ", ";
    known += field.rule->name;
  }
  return make_status(code::invalid_parameter, shorten(name) + ": " + show_json(value) +
                                                  " is given for an unknown field; known are " +
                                                  known);
}

// No settings nest deeper; what shows or copies a value goes as deep as the value does.
constexpr int levels_max = 32;

// Watches the keys of every open object for one that comes twice, and how deep values nest.
class parse_watch {
public:
  void see(int level, nlohmann::json::parse_event_t event, const nlohmann::json& parsed) {
    using kind = nlohmann::json::parse_event_t;
    if (event == kind::key && level == 1) field_ = parsed.get<std::string>();
    const bool opens = event == kind::object_start || event == kind::array_start;
    if (opens && level >= levels_max && !too_deep_) too_deep_ = field_;
    if (event == kind::object_start) open_.emplace_back();
    if (event == kind::object_end) open_.pop_back();
    if (event == kind::key && !open_.back().insert(parsed.get<std::string>()).second)
      duplicate_ = parsed.get<std::string>();
  }

  [[nodiscard]] const std::optional<std::string>& duplicate() const noexcept { return duplicate_; }

  /// The outermost field whose value nests too deep; empty where there is none around it.
  [[nodiscard]] const std::optional<std::string>& too_deep() const noexcept { return too_deep_; }

private:
  std::string field_;
  std::optional<std::string> too_deep_;
  std::vector<std::set<std::string>> open_;
  std::optional<std::string> duplicate_;
};

status nested_too_deep(std::string_view origin, const std::string& field) {
  return make_status(code::invalid_parameter,
                     std::string(origin) + ": " + (field.empty() ? "the text" : shorten(field)) +
                         ": arrays and objects more than " + std::to_string(levels_max) +
                         " deep are not a value that any setting has");
}

} // namespace

std::string show_number(double value) {
  constexpr double exact = 9007199254740992.0; // 2^53
  if (std::floor(value) == value && std::fabs(value) <= exact)
    return std::to_string(static_cast<std::int64_t>(value));
  return nlohmann::json(value).dump();
}

std::string show_json(const nlohmann::json& value) {
  constexpr bool ascii_only = true; // so that a cut never splits a character
  return shorten(value.dump(-1, ' ', ascii_only, nlohmann::json::error_handler_t::replace));
}

std::string allowed_values(const bound_field& field) {
  const auto& rule = *field.rule;
  const std::string most = show_number(rule.most);
  if (is_text(field)) {
    return "a text of " + show_number(rule.least) + " to " + most + " bytes without NUL";
  }
  const std::string kind = is_real(field) ? "a number " : "a whole number ";
  if (rule.above_least) return kind + "above " + show_number(rule.least) + " and up to " + most;
  return kind + "from " + show_number(rule.least) + " to " + most;
}

result<nlohmann::json> parse_json(std::string_view text, std::string_view origin) {
  const auto broken = [&](const std::string& why) {
    return make_status(code::parse_file, std::string(origin) + ": " + why);
  };
  try {
    parse_watch watch;
    const auto see = [&watch](int level, auto event, const nlohmann::json& value) {
      watch.see(level, event, value);
      return true;
    };
    auto parsed = nlohmann::json::parse(text, see);
    if (const auto& field = watch.too_deep()) return nested_too_deep(origin, *field);
    if (const auto& name = watch.duplicate())
      return broken("field '" + shorten(*name) + "' is given twice in one object");
    return parsed;
  } catch (const nlohmann::json::exception& failure) {
    // The library's text starts with its own name in brackets and goes on with the position.
    const std::string_view why = failure.what();
    const auto name_end = why.find("] ");
    return broken(shorten(why.substr(name_end == why.npos ? 0 : name_end + 2)));
  }
}

status read_value(const nlohmann::json& value, const bound_field& field) {
  const auto refused = [&] { return refuse(field.rule->name, show_json(value), field); };
  if (is_text(field)) {
    if (!value.is_string()) return refused();
    const auto& text = value.get_ref<const std::string&>();
    if (!keeps(*field.rule, text)) return refused();
    *std::get<std::string*>(field.target) = text;
    return {};
  }
  if (!value.is_number()) return refused();
  const double number = value.get<double>();
  if (!keeps(*field.rule, number)) return refused();
  if (!is_real(field) && std::floor(number) != number) return refused();
  assign_number(number, field);
  return {};
}

status read_fields(const nlohmann::json& object, gsl::span<const bound_field> fields,
                   std::string_view also_known) {
  if (!object.is_object()) {
    return make_status(code::invalid_parameter,
                       show_json(object) + " is not a JSON object of fields");
  }
  for (const auto& [name, value] : object.items()) {
    if (!also_known.empty() && name == also_known) continue;
    const bound_field* match = nullptr;
    for (const auto& field : fields)
      if (field.rule->name == name) match = &field;
    if (match == nullptr) return unknown_field(name, value, fields, also_known);
    if (auto outcome = read_value(value, *match); !outcome.ok()) return outcome;
  }
  return {};
}

status read_text(std::string_view text, const bound_field& field, std::string_view label) {
  const auto refused = [&] { return refuse(label, "'" + shorten(text) + "'", field); };
  Expects(!is_text(field));
  double number = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, failure] = std::from_chars(text.data(), end, number);
  if (failure != std::errc{} || stop != end || !keeps(*field.rule, number)) return refused();
  if (!is_real(field) && std::floor(number) != number) return refused();
  assign_number(number, field);
  return {};
}

status check_fields(gsl::span<const bound_field> fields) {
  for (const auto& field : fields) {
    const bool kept = std::visit([&field](const auto* target) {
      if constexpr (std::is_same_v<decltype(target), const std::string*>)
        return keeps(*field.rule, *target);
      else
        return keeps(*field.rule, static_cast<double>(*target));
    }, field.target);
    if (!kept) return refuse(field.rule->name, show_value(field), field);
  }
  return {};
}

std::string write_fields(gsl::span<const bound_field> fields) {
  nlohmann::ordered_json object = nlohmann::ordered_json::object();
  for (const auto& field : fields) {
    std::visit([&](const auto* target) { object[std::string(field.rule->name)] = *target; },
               field.target);
  }
  return object.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

std::string environment_name(const field_rule& rule) {
  std::string name = "TROUPE_";
  for (const char each : rule.name)
    name += each >= 'a' && each <= 'z' ? static_cast<char>(each - 'a' + 'A') : each;
  return name;
}

std::string describe_fields(gsl::span<const bound_field> fields, environment_column variables) {
  const bool with_variables = variables == environment_column::present;
  std::string text = with_variables ? "| field | variable" : "| field";
  text += " | default | allowed | meaning |\n|---|---|---|---|";
  text += with_variables ? "---|\n" : "\n";
  for (const auto& field : fields) {
    text += "| `" + std::string(field.rule->name) + "` | ";
    if (with_variables) text += "`" + environment_name(*field.rule) + "` | ";
    text += show_value(field) + " | " + allowed_values(field) + " | " +
            std::string(field.rule->help) + " |\n";
  }
  return text;
}

status within(std::string_view prefix, const status& failure) {
  return make_status(failure.code(), std::string(prefix) + ": " + failure.message());
}

} // namespace troupe
