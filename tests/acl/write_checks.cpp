// Writes a source that holds the headers to the facts: `troupe_acl_checks FACTS OUT.cpp OUT.c`.
// The C++ source compares types exactly; the C one what C can tell: sizes, offsets, values, and
// function types by _Generic.

#include <cstdlib>
#include <fstream>
#include <iostream>
#include <map>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

using row = std::map<std::string, std::string>;

std::vector<std::string> split(const std::string& line) {
  std::vector<std::string> fields;
  std::string::size_type begin = 0;
  for (auto end = line.find('\t'); end != std::string::npos; end = line.find('\t', begin)) {
    fields.push_back(line.substr(begin, end - begin));
    begin = end + 1;
  }
  fields.push_back(line.substr(begin));
  return fields;
}

std::vector<row> read(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw std::runtime_error("cannot read " + path);
  std::string line;
  std::getline(file, line);
  const auto names = split(line);
  std::vector<row> rows;
  while (std::getline(file, line)) {
    const auto fields = split(line);
    row made;
    for (std::size_t i = 0; i < names.size(); ++i)
      made[names[i]] = i < fields.size() ? fields[i] : "";
    rows.push_back(made);
  }
  if (rows.empty()) throw std::runtime_error(path + " holds no facts");
  return rows;
}

constexpr auto cpp_only = "acl_tdt.h";

struct output {
  std::ostringstream cpp;
  std::ostringstream c;

  // `condition` must hold in both languages, or in C++ only where the header is.
  void both(const row& fact, const std::string& condition) {
    const auto line = "(" + condition + ", \"" + fact.at("header") + "\");\n";
    cpp << "static_assert" << line;
    if (fact.at("header") != cpp_only) c << "_Static_assert" << line;
  }
};

void check_functions(const std::vector<row>& facts, output& to) {
  for (const auto& f : facts) {
    auto parameters = f.at("params");
    if (f.at("attributes") == "variadic" && parameters.find("...") == std::string::npos) {
      parameters += ", ...";
    }
    if (parameters.empty()) parameters = "void";
    const auto& name = f.at("name");
    to.cpp << "static_assert(std::is_same_v<decltype(" << name << "), " << f.at("return_type")
           << "(" << parameters << ")>, \"" << name << "\");\n";
    if (f.at("header") == cpp_only) continue;
    to.c << "_Static_assert(_Generic(&" << name << ", " << f.at("return_type") << " (*)("
         << parameters << "): 1, default: 0), \"" << name << "\");\n";
  }
}

void check_numbers(const std::vector<row>& facts, const std::string& name, output& to) {
  for (const auto& f : facts) {
    if (f.count("kind") != 0 && f.at("kind") == "string-macro") {
      to.cpp << "static_assert(std::string_view(" << f.at(name) << ") == \"" << f.at("value")
             << "\");\n";
    } else if (!f.at("value").empty()) {
      // A constant of C is no constant expression unless it is a macro or enumerator.
      const bool object = f.count("kind") != 0 && f.at("kind") == "static-const";
      const auto& literal = f.at("value");
      const bool large = literal.size() > 18 && literal.front() != '-';
      const auto condition = f.at(name) + " == " + literal + (large ? "ULL" : "");
      if (object) {
        to.cpp << "static_assert(" << condition << ");\n";
      } else {
        to.both(f, condition);
      }
    }
  }
}

void check_layout(const std::vector<row>& types, const std::vector<row>& fields, output& to) {
  for (const auto& t : types) {
    if (t.at("size").empty()) continue;
    to.both(t, "sizeof(" + std::string(t.at("form") == "tag" ? "enum " : "") + t.at("name") +
                   ") == " + t.at("size"));
  }
  for (const auto& f : fields) {
    to.both(f, "offsetof(" + f.at("type") + ", " + f.at("field") + ") == " + f.at("offset"));
    to.both(f, "sizeof(((" + f.at("type") + "*)0)->" + f.at("field") + ") == " + f.at("size"));
  }
}

void write(const std::string& path, const std::string& head, const std::string& body) {
  std::ofstream file(path);
  file << head << body;
  if (!file.flush()) throw std::runtime_error("cannot write " + path);
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc != 4) throw std::runtime_error("usage: troupe_acl_checks FACTS OUT.cpp OUT.c");
  const std::string facts = argv[1];
  output made;
  check_functions(read(facts + "/functions.tsv"), made);
  check_numbers(read(facts + "/enums.tsv"), "enumerator", made);
  check_numbers(read(facts + "/constants.tsv"), "name", made);
  check_layout(read(facts + "/types.tsv"), read(facts + "/fields.tsv"), made);
  const std::string headers =
      "#include <stddef.h>\n#include <acl/acl.h>\n#include <acl/acl_prof.h>\n"
      "#include <acl/acl_rt_allocator.h>\n";
  write(argv[2],
        "#include <string_view>\n#include <type_traits>\n" + headers + "#include <acl/acl_tdt.h>\n",
        made.cpp.str());
  write(argv[3], headers, made.c.str());
  return EXIT_SUCCESS;
} catch (const std::exception& e) {
  std::cerr << e.what() << '\n';
  return EXIT_FAILURE;
}
