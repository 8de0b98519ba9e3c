#include "tests/house/sizes.hpp"

#include <algorithm>
#include <array>
#include <optional>

namespace troupe::house {

namespace {

constexpr auto npos = std::string_view::npos;

/// Preprocessor lines turned into blanks: their braces need not balance.
std::string without_directives(std::string text) {
  bool continued = false;
  std::size_t begin = 0;
  while (begin < text.size()) {
    const auto end = std::min(text.find('\n', begin), text.size());
    const auto first = text.find_first_not_of(" \t", begin);
    const bool directive = continued || (first < end && text[first] == '#');
    continued = directive && end > begin && text[end - 1] == '\\';
    if (directive)
      std::fill(text.begin() + static_cast<std::ptrdiff_t>(begin),
                text.begin() + static_cast<std::ptrdiff_t>(end), ' ');
    begin = end + 1;
  }
  return text;
}

/// The head with runs of blanks joined, and without a leading `template <...>`.
std::string normal_head(std::string_view raw) {
  std::string head;
  for (const char c : raw) {
    const bool space = c == ' ' || c == '\n' || c == '\t';
    if (!space)
      head += c;
    else if (!head.empty() && head.back() != ' ')
      head += ' ';
  }
  if (!head.empty() && head.back() == ' ') head.pop_back();
  while (head.starts_with("template")) {
    std::size_t depth = 0;
    auto at = head.find('<');
    for (; at < head.size(); ++at) {
      if (head[at] == '<') ++depth;
      if (head[at] == '>' && --depth == 0) break;
    }
    head.erase(0, std::min(head.find_first_not_of(" >", at), head.size()));
  }
  return head;
}

/// The head without its parentheses, brackets and what they hold.
std::string without_groups(std::string_view head) {
  std::string rest;
  std::size_t depth = 0;
  for (const char c : head) {
    const bool opens = c == '(' || c == '[';
    const bool closes = c == ')' || c == ']';
    if (opens) ++depth;
    if (depth == 0 && !closes) rest += c;
    if (closes && depth > 0) --depth;
  }
  return rest;
}

/// Decides whether the brace after `head` opens a function body; anything else (namespace, type,
/// initialiser) is a level in which functions may stand.
bool is_function_head(std::string_view head) {
  static constexpr std::array levels{"namespace", "class", "struct", "union", "enum", "concept"};
  const auto last = head.rfind(')');
  if (last == npos || head.ends_with('=') || head.ends_with(',')) return false;
  if (head.substr(last + 1).starts_with('>')) return false;
  const auto bare = without_groups(head);
  return std::ranges::none_of(
      levels, [&](std::string_view level) { return find_word(bare, level) != npos; });
}

class scanner {
 public:
  explicit scanner(std::string_view text) : text_(without_directives(blank(text))) {}

  std::vector<function_body> run() {
    for (at_ = 0; at_ < text_.size(); ++at_)
      step(text_[at_]);
    return std::move(found_);
  }

 private:
  void step(char c) {
    if (c == '(') ++parens_;
    if (c == ')' && parens_ > 0) --parens_;
    if (c == '{') open();
    if (c == '}') close();
    if (inside_ || parens_ > 0) return;
    const bool label = c == ':' && text_[at_ - 1] != ':' && is_access_label();
    if (c == ';' || label) head_begin_ = at_ + 1;
  }

  void open() {
    ++depth_;
    if (inside_ || parens_ > 0) return;
    auto head = normal_head(std::string_view{text_}.substr(head_begin_, at_ - head_begin_));
    if (is_function_head(head)) {
      inside_ = depth_;
      found_.push_back({std::move(head), line_of(text_, at_), 0});
    } else {
      head_begin_ = at_ + 1;
    }
  }

  void close() {
    const bool ends_function = inside_ == depth_;
    if (depth_ > 0) --depth_;
    if (inside_ && !ends_function) return;
    if (parens_ > 0 && !ends_function) return;
    if (ends_function) {
      inside_.reset();
      parens_ = 0;
      // A brace that is followed by a comma or another brace was a member's initialiser: the head
      // of the constructor goes on behind it.
      const auto next = text_.find_first_not_of(" \n", at_ + 1);
      if (next != npos && (text_[next] == ',' || text_[next] == '{')) {
        found_.pop_back();
        return;
      }
      found_.back().lines = line_of(text_, at_) - found_.back().line + 1;
    }
    head_begin_ = at_ + 1;
  }

  [[nodiscard]] bool is_access_label() const {
    const auto head = normal_head(std::string_view{text_}.substr(head_begin_, at_ - head_begin_));
    return head == "public" || head == "protected" || head == "private";
  }

  std::string text_;
  std::size_t at_ = 0;
  std::size_t head_begin_ = 0;
  std::size_t depth_ = 0;
  std::size_t parens_ = 0;
  std::optional<std::size_t> inside_;
  std::vector<function_body> found_;
};

}  // namespace

std::vector<function_body> functions_of(std::string_view text) {
  return scanner{text}.run();
}

std::vector<finding> long_functions(const source_file& file, std::size_t lines_max) {
  std::vector<finding> findings;
  for (const auto& body : functions_of(file.text)) {
    if (body.lines <= lines_max) continue;
    findings.push_back({file.path, body.line,
                        std::to_string(body.lines) + " lines (" + std::to_string(lines_max) +
                            " allowed): " + body.head});
  }
  return findings;
}

size_profile profile_of(std::vector<std::size_t> line_counts, std::size_t limit) {
  if (line_counts.empty()) return {};
  std::ranges::sort(line_counts);
  const auto below = std::ranges::lower_bound(line_counts, limit) - line_counts.begin();
  return {line_counts[line_counts.size() / 2], line_counts.back(),
          100.0 * static_cast<double>(below) / static_cast<double>(line_counts.size())};
}

}  // namespace troupe::house
