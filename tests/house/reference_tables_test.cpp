// The reference tables in the READMEs are those that the code itself prints.
#include <fstream>
#include <sstream>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "core/device_profile.hpp"
#include "core/faults/fault_plan.hpp"
#include "core/runtime_options.hpp"

namespace troupe {
namespace {

std::string readme_of(const std::string& folder) {
  std::ifstream file(std::string(TROUPE_SOURCE_DIR) + "/" + folder + "/README.md");
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

TEST(reference_tables, the_option_table_in_the_readme_is_the_one_the_code_uses) {
  EXPECT_NE(readme_of("api").find(describe_option_fields()), std::string::npos)
      << "put this into api/README.md:\n"
      << describe_option_fields();
}

TEST(reference_tables, the_profile_table_in_the_readme_is_the_one_the_code_uses) {
  EXPECT_NE(readme_of("api").find(describe_profile_fields()), std::string::npos)
      << "put this into api/README.md:\n"
      << describe_profile_fields();
}

TEST(reference_tables, the_tables_of_fault_plans_in_their_readme_are_those_the_code_uses) {
  for (const auto& table : {describe_fault_fields(), describe_fault_actions()}) {
    EXPECT_NE(readme_of("core/faults").find(table), std::string::npos)
        << "put this into core/faults/README.md:\n"
        << table;
  }
}

TEST(reference_tables, the_plan_in_the_readme_of_fault_plans_can_be_read) {
  const auto readme = readme_of("core/faults");
  const std::string open = "```json\n";
  const auto begin = readme.find(open);
  ASSERT_NE(begin, std::string::npos);
  const auto plan = readme.substr(begin + open.size());
  const auto read = fault_plan::from_json(std::string_view(plan).substr(0, plan.find("```")));
  ASSERT_TRUE(read.ok()) << read.error().message();
  EXPECT_EQ(read.value().entries.size(), 3U);
}

} // namespace
} // namespace troupe
