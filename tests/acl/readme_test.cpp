#include <fstream>
#include <set>
#include <string>

#include <dlfcn.h>
#include <gtest/gtest.h>

namespace {

// The words in backquotes of the README's lines that begin with `| heading |`.
std::set<std::string> names_in(const std::string& heading) {
  std::ifstream file(TROUPE_ACL_README);
  std::set<std::string> names;
  for (std::string line; std::getline(file, line);) {
    if (line.rfind("| " + heading + " |", 0) != 0) continue;
    for (auto begin = line.find('`'); begin != std::string::npos;) {
      const auto end = line.find('`', begin + 1);
      if (end == std::string::npos) break;
      names.insert(line.substr(begin + 1, end - begin - 1));
      begin = line.find('`', end + 1);
    }
  }
  return names;
}

std::set<std::string> declared() {
  std::ifstream file(std::string(TROUPE_ACL_FACTS) + "/functions.tsv");
  std::set<std::string> names;
  std::string line;
  std::getline(file, line);
  while (std::getline(file, line)) {
    const auto group = line.find('\t');
    const auto name = line.find('\t', group + 1) + 1;
    names.insert(line.substr(name, line.find('\t', name) - name));
  }
  // And what the facts do not know: newer functions.
  std::ifstream more(std::string(TROUPE_ACL_HEADERS) + "/acl_rt_more.h");
  const std::string head = "ACL_FUNC_VISIBILITY aclError ";
  while (std::getline(more, line)) {
    if (line.rfind(head, 0) != 0) continue;
    names.insert(line.substr(head.size(), line.find('(') - head.size()));
  }
  return names;
}

TEST(acl_readme, the_table_says_of_each_function_whether_the_library_has_it) {
  auto* const library = dlopen(TROUPE_ACL_LIBRARY, RTLD_NOW | RTLD_NOLOAD);
  ASSERT_NE(library, nullptr) << dlerror();
  auto there = names_in("works");
  there.merge(names_in("partly"));
  there.merge(names_in("refused"));
  ASSERT_GT(there.size(), 100U);
  for (const auto& name : there) {
    EXPECT_NE(dlsym(library, name.c_str()), nullptr) << name << " is in the table only";
  }
  for (const auto& name : declared()) {
    if (there.count(name) == 0) {
      EXPECT_EQ(dlsym(library, name.c_str()), nullptr) << name << " is in no table";
    }
  }
  dlclose(library);
}

}  // namespace
