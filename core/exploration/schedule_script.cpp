#include "core/exploration/schedule_script.hpp"

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>

#include <gsl/gsl>

namespace troupe {
namespace {

constexpr std::string_view hex_digits = "0123456789ABCDEF";
constexpr std::string_view blanks = " \t\r\n"; // a line from a file ends in one
constexpr std::string_view special = "%#;\"'\\";

bool is_word_byte(char c) {
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '=' ||
         c == '.' || c == '-';
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// No digit in front: a delay whose '+' was forgotten must not pass for a fault.
bool is_word(std::string_view text) {
  return !text.empty() && !is_digit(text.front()) &&
         std::all_of(text.begin(), text.end(), is_word_byte);
}

// Bytes above 127 pass: names in UTF-8 stay readable.
bool needs_escape(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return byte < 0x20 || byte == 0x7f || special.find(c) != std::string_view::npos;
}

std::string escape(std::string_view name) {
  std::string text;
  for (std::size_t i = 0; i < name.size(); ++i) {
    const char c = name[i];
    const bool outer_blank = c == ' ' && (i == 0 || i + 1 == name.size());
    if (!outer_blank && !needs_escape(c)) {
      text += c;
      continue;
    }
    const auto byte = static_cast<unsigned char>(c);
    text += '%';
    text += hex_digits[byte >> 4U];
    text += hex_digits[byte & 0xfU];
  }
  return text;
}

/// A cursor over the line. The functions that read return nothing at the first mistake, which
/// `failure_` keeps; none of them is called after that.
class script_parser {
public:
  explicit script_parser(std::string_view line) : line_(line) {}

  result<schedule_script> parse() {
    schedule_script script;
    skip_blanks();
    while (!at_end()) {
      auto entry = parse_entry(script);
      if (!entry || !parse_separator()) return failure_;
      script.entries.push_back(std::move(*entry));
    }
    return script;
  }

private:
  std::optional<schedule_entry> parse_entry(const schedule_script& before) {
    const std::size_t begin = at_;
    auto channel = parse_channel();
    if (!channel) return std::nullopt;
    schedule_entry entry;
    entry.channel = std::move(*channel);
    const auto ordinal = parse_number("an ordinal of 1 or more is expected after '#'");
    if (!ordinal) return std::nullopt;
    entry.ordinal = *ordinal;
    skip_blanks();
    if (!at_end() && line_[at_] == '+') {
      ++at_;
      const auto delay = parse_number("a delay of 1 step or more is expected after '+'");
      if (!delay) return std::nullopt;
      entry.delay = *delay;
    } else {
      const std::size_t word_at = at_;
      entry.fault = parse_word();
      if (!is_word(entry.fault))
        return refuse(word_at, "'+' and a delay, or a fault word such as 'drop' is expected");
    }
    const auto clashes = [&](const schedule_entry& other) {
      return other.channel == entry.channel && other.ordinal == entry.ordinal &&
             other.fault == entry.fault;
    };
    if (std::any_of(before.entries.begin(), before.entries.end(), clashes))
      return refuse(begin, entry.is_delay() ? "an item is expected that has no delay yet"
                                            : "an item is expected that lacks this fault");
    return entry;
  }

  // True where the line ends or goes on with another entry.
  bool parse_separator() {
    skip_blanks();
    if (at_end()) return true;
    if (line_[at_] != ';') {
      refuse(at_, "';' or the end is expected");
      return false;
    }
    ++at_;
    skip_blanks();
    if (at_end()) refuse(at_, "an entry is expected after ';'");
    return !at_end();
  }

  // Up to the '#', which a name itself holds only as %23.
  std::optional<std::string> parse_channel() {
    const std::size_t begin = at_;
    const std::size_t end = std::min(line_.find_first_of("#;", at_), line_.size());
    std::string_view raw = line_.substr(at_, end - at_);
    raw = raw.substr(0, raw.find_last_not_of(blanks) + 1);
    std::string name;
    for (std::size_t i = 0; i < raw.size(); ++i) {
      if (raw[i] != '%') {
        name += raw[i];
        continue;
      }
      const auto digits = raw.substr(i + 1, 2);
      if (digits.size() < 2 || digits.find_first_not_of(hex_digits) != std::string_view::npos)
        return refuse(begin + i, "two digits of 0-9 and A-F are expected after '%'");
      name += static_cast<char>(hex_digits.find(digits[0]) * 16 + hex_digits.find(digits[1]));
      i += 2;
    }
    at_ = end;
    if (name.empty()) return refuse(begin, "the name of a channel is expected");
    if (at_end() || line_[at_] != '#')
      return refuse(end, "'#' and an ordinal are expected after the name of a channel");
    ++at_;
    return name;
  }

  std::optional<std::uint64_t> parse_number(const char* expected) {
    skip_blanks();
    const std::size_t begin = at_;
    while (!at_end() && is_digit(line_[at_])) ++at_;
    std::uint64_t value = 0;
    const auto read = std::from_chars(line_.data() + begin, line_.data() + at_, value);
    if (read.ec == std::errc() && value > 0) return value;
    const bool large = read.ec == std::errc::result_out_of_range;
    return refuse(begin, large ? "a smaller number is expected" : expected);
  }

  std::string parse_word() {
    const std::size_t begin = at_;
    while (!at_end() && is_word_byte(line_[at_])) ++at_;
    return std::string(line_.substr(begin, at_ - begin));
  }

  void skip_blanks() {
    at_ = std::min(line_.find_first_not_of(blanks, at_), line_.size());
  }

  [[nodiscard]] bool at_end() const { return at_ >= line_.size(); }

  // An empty optional of whatever was to be read here.
  std::nullopt_t refuse(std::size_t at, std::string_view what) {
    constexpr std::size_t shown_max = 20;
    const auto rest = line_.substr(at, shown_max);
    std::string message = "schedule script, column " + std::to_string(at + 1) + ": ";
    message += what;
    message += rest.empty() ? ", but the line ends" : ", found '" + std::string(rest) + "'";
    failure_ = make_status(code::invalid_parameter, std::move(message));
    return std::nullopt;
  }

  std::string_view line_;
  std::size_t at_ = 0;
  status failure_;
};

} // namespace

schedule_entry schedule_entry::late(std::string channel, std::uint64_t ordinal,
                                    std::uint64_t steps) {
  Expects(!channel.empty() && ordinal > 0 && steps > 0);
  return {std::move(channel), ordinal, steps, {}};
}

schedule_entry schedule_entry::faulty(std::string channel, std::uint64_t ordinal,
                                      std::string word) {
  Expects(!channel.empty() && ordinal > 0 && is_word(word));
  return {std::move(channel), ordinal, 0, std::move(word)};
}

std::string to_string(const schedule_script& script) {
  std::string line;
  for (const auto& entry : script.entries) {
    Expects(!entry.channel.empty() && entry.ordinal > 0);
    Expects(entry.is_delay() ? entry.delay > 0 : is_word(entry.fault) && entry.delay == 0);
    if (!line.empty()) line += "; ";
    line += escape(entry.channel) + " #" + std::to_string(entry.ordinal) + ' ';
    line += entry.is_delay() ? '+' + std::to_string(entry.delay) : entry.fault;
  }
  return line;
}

result<schedule_script> parse_schedule_script(std::string_view line) {
  return script_parser(line).parse();
}

} // namespace troupe
