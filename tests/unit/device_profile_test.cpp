#include "core/device_profile.hpp"

#include <limits>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace troupe {
namespace {

using testing::AllOf;
using testing::HasSubstr;

/// The failure of a text that must not be accepted.
status refusal(std::string_view json) {
  const auto parsed = parse_profile(json);
  EXPECT_FALSE(parsed.ok()) << json;
  return parsed.error();
}

TEST(device_profile, is_an_ascend_910_by_default) {
  const auto profile = device_profile::ascend_910();
  EXPECT_EQ(profile.name, "Ascend 910");
  EXPECT_EQ(profile.memory_bytes, 85'899'345'920u);
  EXPECT_EQ(profile.cores, 32u);
  EXPECT_EQ(profile.clock_khz, 1'000'000u);
  EXPECT_DOUBLE_EQ(profile.peak_flops, 256e12);
  EXPECT_EQ(profile.queue_slots, 64u);
  EXPECT_EQ(profile.stream_limit, 1'984u);
  EXPECT_EQ(profile.event_limit, 65'536u);
  EXPECT_TRUE(validate(profile).ok());
}

TEST(device_profile, keeps_the_default_of_every_field_that_json_does_not_mention) {
  const auto parsed = parse_profile(R"({"cores": 8, "name": "Tiny"})");
  ASSERT_TRUE(parsed.ok());
  device_profile expected;
  expected.cores = 8;
  expected.name = "Tiny";
  EXPECT_EQ(parsed.value(), expected);
}

TEST(device_profile, reads_back_what_it_wrote_to_the_last_bit) {
  device_profile profile;
  profile.name = "odd \"name\"\n";
  profile.memory_bytes = (std::uint64_t{1} << 40) - 1;
  profile.peak_flops = 1.0 / 3.0;
  profile.link_bandwidth = 123456789.125;
  profile.memory_bandwidth = 1e15;
  profile.queue_slots = 1;
  const auto parsed = parse_profile(to_json(profile));
  ASSERT_TRUE(parsed.ok()) << parsed.error().message();
  EXPECT_EQ(parsed.value(), profile);
}

TEST(device_profile, accepts_a_whole_number_in_floating_notation_but_no_fraction) {
  const auto parsed = parse_profile(R"({"clock_khz": 1.5e6})");
  ASSERT_TRUE(parsed.ok());
  EXPECT_EQ(parsed.value().clock_khz, 1'500'000u);
  EXPECT_THAT(refusal(R"({"cores": 2.5})").message(),
              AllOf(HasSubstr("cores: 2.5"), HasSubstr("a whole number from 1 to 1024")));
}

TEST(device_profile, refuses_zero_negative_and_too_large_with_field_value_and_range) {
  for (const char* value : {"0", "-1", "1025", "18446744073709551615", "-9223372036854775808"}) {
    const auto failure = refusal(std::string(R"({"cores": )") + value + "}");
    EXPECT_EQ(failure.code(), code::invalid_parameter);
    EXPECT_THAT(failure.message(), HasSubstr("cores: " + std::string(value) +
                                             " is not a whole number from 1 to 1024"));
  }
  EXPECT_THAT(refusal(R"({"peak_flops": 0})").message(),
              HasSubstr("peak_flops: 0 is not a number above 0 and up to 1e+18"));
  EXPECT_THAT(refusal(R"({"name": ""})").message(),
              HasSubstr("name: \"\" is not a text of 1 to 255 bytes"));
}

TEST(device_profile, accepts_both_ends_of_a_range) {
  EXPECT_TRUE(parse_profile(R"({"cores": 1})").ok());
  EXPECT_TRUE(parse_profile(R"({"cores": 1024})").ok());
  EXPECT_TRUE(parse_profile(R"({"memory_bytes": 1099511627776})").ok());
  EXPECT_FALSE(parse_profile(R"({"memory_bytes": 1099511627777})").ok());
}

TEST(device_profile, refuses_a_wrong_type_for_every_kind_of_field) {
  for (const char* json : {R"({"cores": "8"})", R"({"cores": true})", R"({"cores": null})",
                           R"({"peak_flops": []})", R"({"name": 910})", R"([])", R"(8)"})
    EXPECT_EQ(refusal(json).code(), code::invalid_parameter) << json;
}

TEST(device_profile, refuses_an_unknown_field_and_names_the_known_ones) {
  const auto failure = refusal(R"({"core": 8})");
  EXPECT_EQ(failure.code(), code::invalid_parameter);
  EXPECT_THAT(failure.message(),
              AllOf(HasSubstr("core: 8"), HasSubstr("unknown"), HasSubstr("clock_khz")));
}

TEST(device_profile, says_where_json_is_broken) {
  const auto failure = refusal("{\n  \"cores\": 8,,\n}");
  EXPECT_EQ(failure.code(), code::parse_file);
  EXPECT_THAT(failure.message(), HasSubstr("line 2, column 14"));
  EXPECT_EQ(refusal("").code(), code::parse_file);
  EXPECT_EQ(refusal(R"({"peak_flops": 1e999})").code(), code::parse_file);
}

TEST(device_profile, refuses_a_field_that_is_given_twice) {
  const auto failure = refusal(R"({"cores": 8, "name": "x", "cores": 9})");
  EXPECT_EQ(failure.code(), code::parse_file);
  EXPECT_THAT(failure.message(), HasSubstr("'cores' is given twice"));
}

TEST(device_profile, keeps_a_message_short_however_long_the_value_is) {
  const auto failure = refusal("{\"name\": \"" + std::string(100'000, 'x') + "\"}");
  EXPECT_THAT(failure.message(), HasSubstr("text of 1 to 255 bytes"));
  EXPECT_LT(failure.message().size(), 400u);
}

TEST(device_profile, refuses_a_name_with_a_nul_in_it) {
  const auto failure = refusal(R"({"name": "a\u0000b"})");
  EXPECT_EQ(failure.code(), code::invalid_parameter);
  EXPECT_THAT(failure.message(), HasSubstr(R"(name: "a\u0000b" is not a text)"));
  device_profile profile;
  profile.name = std::string("a\0b", 3);
  EXPECT_EQ(validate(profile).code(), code::invalid_parameter);
}

TEST(device_profile, refuses_values_that_nest_too_deep) {
  for (const std::size_t depth : {33U, 100'000U}) {
    const auto nested = std::string(depth, '[') + std::string(depth, ']');
    const auto failure = refusal("{\"cores\": " + nested + "}");
    EXPECT_EQ(failure.code(), code::invalid_parameter) << depth;
    EXPECT_THAT(failure.message(), AllOf(HasSubstr("cores: "), HasSubstr("32 deep"))) << depth;
    EXPECT_EQ(refusal(nested).code(), code::invalid_parameter) << depth;
    EXPECT_EQ(refusal(std::string(depth, '[')).code(), code::parse_file) << depth;
  }
}

TEST(device_profile, validates_figures_that_code_has_set) {
  device_profile profile;
  profile.stream_limit = 0;
  EXPECT_EQ(validate(profile).code(), code::invalid_parameter);
  EXPECT_THAT(validate(profile).message(), HasSubstr("stream_limit: 0"));
  profile = {};
  profile.link_bandwidth = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THAT(validate(profile).message(), HasSubstr("link_bandwidth"));
  profile = {};
  profile.name = std::string(256, 'x');
  EXPECT_THAT(validate(profile).message(), HasSubstr("name"));
}

TEST(device_profile, describes_each_field_with_default_and_range) {
  const auto text = describe_profile_fields();
  EXPECT_THAT(text, HasSubstr("| `name` | \"Ascend 910\" | a text of 1 to 255 bytes without NUL |"));
  EXPECT_THAT(text, HasSubstr("| `stream_limit` | 1984 | a whole number from 1 to 1048576 |"));
}

} // namespace
} // namespace troupe
