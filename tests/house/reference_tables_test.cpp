// The reference tables in the README of the facade are those that the code itself prints.
#include <fstream>
#include <sstream>
#include <string>

#include <gtest/gtest.h>

#include "core/device_profile.hpp"
#include "core/runtime_options.hpp"

namespace troupe {
namespace {

std::string api_readme() {
  std::ifstream file(std::string(TROUPE_SOURCE_DIR) + "/api/README.md");
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

TEST(reference_tables, the_option_table_in_the_readme_is_the_one_the_code_uses) {
  EXPECT_NE(api_readme().find(describe_option_fields()), std::string::npos)
      << "put this into api/README.md:\n"
      << describe_option_fields();
}

TEST(reference_tables, the_profile_table_in_the_readme_is_the_one_the_code_uses) {
  EXPECT_NE(api_readme().find(describe_profile_fields()), std::string::npos)
      << "put this into api/README.md:\n"
      << describe_profile_fields();
}

} // namespace
} // namespace troupe
