// Writes the table of what the fuzz test calls: `troupe_acl_subjects README FACTS OUT HEADER...`,
// a line SUBJECT(function, role...) for every function that the README says the library has, and for
// those of the headers that are not of this interface. Declarations are in the facts, else in headers.

#include <cstdlib>
#include <fstream>
#include <iostream>
#include <iterator>
#include <map>
#include <regex>
#include <set>
#include <stdexcept>
#include <string>

namespace {

std::string read(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw std::runtime_error("cannot read " + path);
  return {std::istreambuf_iterator<char>(file), {}};
}

// Names in backquotes in the lines of the README's table that tell what the library has.
std::set<std::string> exported(const std::string& readme) {
  std::set<std::string> names;
  const std::regex line("\n\\| (works|partly|refused) \\|[^\n]*");
  const std::regex name("`(acl\\w+)`");
  for (std::sregex_iterator at(readme.begin(), readme.end(), line), end; at != end; ++at) {
    const auto text = at->str();
    for (std::sregex_iterator each(text.begin(), text.end(), name); each != end; ++each) {
      names.insert((*each)[1]);
    }
  }
  return names;
}

// The parameters of each function, as they are written.
using declarations = std::map<std::string, std::string>;
const std::string any_arguments = "...";

void add_facts(const std::string& table, declarations& to) {
  const std::regex row("[^\t\n]*\t[^\t\n]*\t(\\w+)\t[^\t\n]*\t([^\t\n]*)\t([^\n]*)\n");
  for (std::sregex_iterator at(table.begin(), table.end(), row), end; at != end; ++at) {
    const bool any = (*at)[3].str().find("variadic") != std::string::npos;
    to[(*at)[1]] = any ? any_arguments : (*at)[2].str();
  }
}

void add_header(const std::string& header, declarations& to) {
  const std::regex declaration("\n(?:ACL_FUNC_VISIBILITY aclError|rtError_t) (\\w+)\\(([^)]*)\\);");
  for (std::sregex_iterator at(header.begin(), header.end(), declaration), end; at != end; ++at) {
    to[(*at)[1]] = (*at)[2];
  }
}

const std::map<std::string, std::string>& roles_of_types() {
  static const std::map<std::string, std::string> known{
      {"aclrtStream", "stream"},
      {"rtStream_t", "stream"},
      {"aclrtEvent", "event"},
      {"rtEvent_t", "event"},
      {"aclrtContext", "context"},
      {"aclmdlRI", "graph"},
      {"aclrtTaskGrp", "task_group"},
      {"aclrtAllocatorDesc", "allocator"},
      {"aclrtBinHandle", "binary"},
      {"aclrtFuncHandle", "function"},
      {"aclrtDrvMemHandle", "physical"},
      {"aclrtNotify", "notify"},
      {"aclrtArgsHandle", "arguments"},
      {"aclmdlRICondHandle", "condition"},
      {"aclDataBuffer*", "data_buffer"},
      {"aclTensorDesc*", "tensor_desc"},
      {"aclmdlDataset*", "dataset"},
      {"aclrtExceptionInfo*", "exception_info"},
      {"void*", "address"},
  };
  return known;
}

// What a parameter, type and name, is for: more than its type tells the compiler.
std::string role_of(const std::string& function, std::string parameter) {
  parameter = std::regex_replace(parameter, std::regex("^\\s+|const |\\s+$"), "");
  const auto space = parameter.rfind(' ');
  const auto type = parameter.substr(0, space);
  const auto name = parameter.substr(space + 1);
  if (type == "void*" && function == "aclrtValueWait") return "cell";
  if (const auto known = roles_of_types().find(type); known != roles_of_types().end()) {
    return known->second;
  }
  if (std::regex_match(name, std::regex("(peerD|d)eviceId|userDevId|logicDevId"))) return "device";
  const bool size = type == "size_t" || type == "uint64_t";
  const bool true_to_it = std::regex_search(function, std::regex("Memcpy|HostRegister|BatchReset|KernelArgs|LaunchKernel"));
  if (size && true_to_it) return "small";
  return "plain";
}

void write(const declarations& all, const std::set<std::string>& names, std::ostream& to) {
  for (const auto& name : names) {
    const auto known = all.find(name);
    if (known == all.end()) throw std::runtime_error("no declaration of " + name);
    const auto& parameters = known->second;
    if (parameters == any_arguments) continue;  // they cannot be told apart
    to << "SUBJECT(" << name;
    const std::regex comma(",");
    std::sregex_token_iterator at(parameters.begin(), parameters.end(), comma, -1);
    for (const std::sregex_token_iterator end; at != end; ++at) {
      if (*at == "" || *at == "void") continue;
      to << ", role::" << role_of(name, *at);
    }
    to << ")\n";
  }
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc < 4) throw std::runtime_error("usage: troupe_acl_subjects README FACTS OUT HEADER...");
  auto names = exported(read(argv[1]));
  declarations all;
  add_facts(read(argv[2]), all);
  for (int i = 4; i < argc; ++i) {
    declarations more;
    add_header(read(argv[i]), more);
    for (const auto& [name, parameters] : more) {
      if (name.rfind("acl", 0) != 0) names.insert(name);
      all.emplace(name, parameters);
    }
  }
  std::ofstream file(argv[3]);
  write(all, names, file);
  if (!file.flush()) throw std::runtime_error(std::string("cannot write ") + argv[3]);
  return EXIT_SUCCESS;
} catch (const std::exception& e) {
  std::cerr << e.what() << '\n';
  return EXIT_FAILURE;
}
