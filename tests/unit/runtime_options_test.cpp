#include "core/runtime_options.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <map>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace troupe {
namespace {

using testing::AllOf;
using testing::HasSubstr;

/// The failure of a text that must not be accepted.
status refusal(std::string_view json) {
  const auto read = runtime_options::from_json(json);
  EXPECT_FALSE(read.ok()) << json;
  return read.error();
}

/// An environment of its own for each test.
environment_getter environment(const std::map<std::string, std::string>& variables) {
  return [variables](const char* name) -> const char* {
    const auto found = variables.find(name);
    return found == variables.end() ? nullptr : found->second.c_str();
  };
}

/// A file that goes when the test ends.
class scratch_file {
public:
  explicit scratch_file(const std::string& text) {
    static int count = 0;
    path_ = testing::TempDir() + "runtime_options_test_" + std::to_string(::getpid()) + "_" +
            std::to_string(count++) + ".json";
    std::ofstream(path_) << text;
  }
  scratch_file(const scratch_file&) = delete;
  scratch_file& operator=(const scratch_file&) = delete;
  ~scratch_file() { std::remove(path_.c_str()); }

  [[nodiscard]] const std::string& path() const { return path_; }

private:
  std::string path_;
};

TEST(runtime_options, have_eight_default_devices_and_pass_their_own_validation) {
  const runtime_options options;
  ASSERT_EQ(options.devices.size(), 8u);
  for (const auto& device : options.devices) EXPECT_EQ(device, device_profile::ascend_910());
  EXPECT_TRUE(options.validate().ok());
}

TEST(runtime_options, read_every_scalar_from_json_and_keep_the_rest) {
  const auto read = runtime_options::from_json(R"({
    "control_workers": 2, "compute_threads": 3, "dma_threads": 4, "callback_threads_max": 5,
    "queue_depth": 6, "submit_timeout_ms": 7, "control_timeout_ms": 14,
    "memory_budget_fraction": 0.25, "memory_budget_bytes": 9, "spin_us": 10, "drain_ms": 11, "stop_bound_ms": 12,
    "copy_chunk_kib": 13})");
  ASSERT_TRUE(read.ok()) << read.error().message();
  runtime_options expected;
  expected.control_workers = 2;
  expected.compute_threads = 3;
  expected.dma_threads = 4;
  expected.callback_threads_max = 5;
  expected.queue_depth = 6;
  expected.submit_timeout_ms = 7;
  expected.control_timeout_ms = 14;
  expected.memory_budget_fraction = 0.25;
  expected.memory_budget_bytes = 9;
  expected.spin_us = 10;
  expected.drain_ms = 11;
  expected.stop_bound_ms = 12;
  expected.copy_chunk_kib = 13;
  EXPECT_EQ(read.value(), expected);
  EXPECT_EQ(runtime_options::from_json("{}").value(), runtime_options{});
}

TEST(runtime_options, read_devices_as_a_number_of_default_devices) {
  const auto read = runtime_options::from_json(R"({"devices": 3})");
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(read.value().devices,
            std::vector<device_profile>(3, device_profile::ascend_910()));
}

TEST(runtime_options, read_devices_as_profiles_with_optional_counts) {
  const auto read = runtime_options::from_json(
      R"({"devices": [{"name": "A", "count": 2}, {"cores": 4}]})");
  ASSERT_TRUE(read.ok()) << read.error().message();
  const auto& devices = read.value().devices;
  ASSERT_EQ(devices.size(), 3u);
  EXPECT_EQ(devices[0].name, "A");
  EXPECT_EQ(devices[1], devices[0]);
  EXPECT_EQ(devices[2].name, "Ascend 910");
  EXPECT_EQ(devices[2].cores, 4u);
}

TEST(runtime_options, refuse_bad_devices_and_say_which) {
  EXPECT_THAT(refusal(R"({"devices": 0})").message(),
              HasSubstr("devices: 0 is not a whole number from 1 to 64"));
  EXPECT_THAT(refusal(R"({"devices": 65})").message(), HasSubstr("devices: 65"));
  EXPECT_THAT(refusal(R"({"devices": "8"})").message(), HasSubstr("nor an array of profiles"));
  EXPECT_THAT(refusal(R"({"devices": []})").message(),
              HasSubstr("devices: 0 devices are not from 1 to 64"));
  EXPECT_THAT(refusal(R"({"devices": [{"count": 64}, {}]})").message(),
              HasSubstr("devices: 65 devices"));
  EXPECT_THAT(refusal(R"({"devices": [{}, {"cores": 0}]})").message(),
              HasSubstr("devices[1]: cores: 0 is not a whole number from 1 to 1024"));
  EXPECT_THAT(refusal(R"({"devices": [{"count": 0}]})").message(),
              HasSubstr("devices[0]: count: 0"));
  EXPECT_THAT(refusal(R"({"devices": [3]})").message(), HasSubstr("devices[0]: 3"));
  EXPECT_EQ(refusal(R"({"devices": [3]})").code(), code::invalid_parameter);
}

TEST(runtime_options, refuse_a_bad_field_with_name_value_and_limit) {
  const auto failure = refusal(R"({"compute_threads": 5000})");
  EXPECT_EQ(failure.code(), code::invalid_parameter);
  EXPECT_THAT(failure.message(),
              HasSubstr("compute_threads: 5000 is not a whole number from 0 to 1024"));
  EXPECT_THAT(refusal(R"({"memory_budget_fraction": 0})").message(),
              HasSubstr("memory_budget_fraction: 0 is not a number above 0 and up to 1"));
  EXPECT_THAT(refusal(R"({"queue_depth": 1})").message(), HasSubstr("from 2 to 1048576"));
  EXPECT_THAT(refusal(R"({"threads": 1})").message(),
              AllOf(HasSubstr("threads: 1"), HasSubstr("devices"), HasSubstr("dma_threads")));
  EXPECT_EQ(refusal("{").code(), code::parse_file);
}

TEST(runtime_options, come_from_a_file_and_name_it_in_every_failure) {
  const scratch_file good(R"({"dma_threads": 2})");
  EXPECT_EQ(runtime_options::from_file(good.path()).value().dma_threads, 2u);

  const scratch_file bad(R"({"dma_threads": 65})");
  auto failure = runtime_options::from_file(bad.path()).error();
  EXPECT_EQ(failure.code(), code::invalid_parameter);
  EXPECT_THAT(failure.message(), AllOf(HasSubstr(bad.path()), HasSubstr("dma_threads: 65")));

  const scratch_file broken("{\n\"dma_threads\" 2}");
  failure = runtime_options::from_file(broken.path()).error();
  EXPECT_EQ(failure.code(), code::parse_file);
  EXPECT_THAT(failure.message(), AllOf(HasSubstr(broken.path()), HasSubstr("line 2, column 15")));
}

TEST(runtime_options, refuse_devices_that_nest_too_deep) {
  constexpr std::size_t depth = 100'000;
  const auto failure =
      refusal("{\"devices\": " + std::string(depth, '[') + std::string(depth, ']') + "}");
  EXPECT_EQ(failure.code(), code::invalid_parameter);
  EXPECT_THAT(failure.message(), AllOf(HasSubstr("devices: "), HasSubstr("32 deep")));
}

TEST(runtime_options, report_a_file_that_cannot_be_read) {
  const auto missing = runtime_options::from_file("no/such/file.json").error();
  EXPECT_EQ(missing.code(), code::invalid_file);
  EXPECT_THAT(missing.message(), AllOf(HasSubstr("no/such/file.json"), HasSubstr("No such file")));
  EXPECT_EQ(runtime_options::from_file(".").error().code(), code::invalid_file);

  const scratch_file large(std::string((1u << 20) + 1, ' '));
  EXPECT_EQ(runtime_options::from_file(large.path()).error().code(), code::invalid_file);
}

TEST(runtime_options, take_one_environment_variable_for_every_field) {
  runtime_options options;
  const auto applied = apply_environment(options, environment({{"TROUPE_CONTROL_WORKERS", "2"},
                                                               {"TROUPE_COMPUTE_THREADS", "3"},
                                                               {"TROUPE_DMA_THREADS", "4"},
                                                               {"TROUPE_CALLBACK_THREADS_MAX", "5"},
                                                               {"TROUPE_QUEUE_DEPTH", "6"},
                                                               {"TROUPE_SUBMIT_TIMEOUT_MS", "7"},
                                                               {"TROUPE_CONTROL_TIMEOUT_MS", "14"},
                                                               {"TROUPE_MEMORY_BUDGET_FRACTION",
                                                                "0.25"},
                                                               {"TROUPE_MEMORY_BUDGET_BYTES", "9"},
                                                               {"TROUPE_SPIN_US", "10"},
                                                               {"TROUPE_DRAIN_MS", "11"},
                                                               {"TROUPE_STOP_BOUND_MS", "12"},
                                                               {"TROUPE_COPY_CHUNK_KIB", "13"},
                                                               {"TROUPE_DEVICES", "1"}}));
  ASSERT_TRUE(applied.ok()) << applied.message();
  const auto expected = runtime_options::from_json(R"({
    "control_workers": 2, "compute_threads": 3, "dma_threads": 4, "callback_threads_max": 5,
    "queue_depth": 6, "submit_timeout_ms": 7, "control_timeout_ms": 14,
    "memory_budget_fraction": 0.25, "memory_budget_bytes": 9, "spin_us": 10, "drain_ms": 11, "stop_bound_ms": 12,
    "copy_chunk_kib": 13, "devices": 1})");
  EXPECT_EQ(options, expected.value());
}

TEST(runtime_options, refuse_a_bad_variable_with_name_value_and_limit_and_stay_unchanged) {
  for (const char* value : {"5000", "-1", "2.5", "many", "3 ", " 3", "0x10", "nan", "1e99999"}) {
    runtime_options options;
    const auto applied = apply_environment(
        options, environment({{"TROUPE_DEVICES", "1"}, {"TROUPE_COMPUTE_THREADS", value}}));
    EXPECT_EQ(applied.code(), code::invalid_parameter) << value;
    EXPECT_THAT(applied.message(),
                HasSubstr("TROUPE_COMPUTE_THREADS: '" + std::string(value) +
                          "' is not a whole number from 0 to 1024"));
    EXPECT_EQ(options, runtime_options{});
  }
  runtime_options options;
  EXPECT_THAT(apply_environment(options, environment({{"TROUPE_DEVICES", "0"}})).message(),
              HasSubstr("TROUPE_DEVICES: '0' is not a whole number from 1 to 64"));
}

TEST(runtime_options, treat_an_empty_variable_as_not_set) {
  runtime_options options;
  EXPECT_TRUE(apply_environment(options, environment({{"TROUPE_CONFIG", ""},
                                                      {"TROUPE_SPIN_US", ""}})).ok());
  EXPECT_EQ(options, runtime_options{});
}

TEST(runtime_options, let_the_file_win_over_code_and_the_environment_over_the_file) {
  const scratch_file file(R"({"dma_threads": 2, "spin_us": 30, "devices": 5})");
  runtime_options options;
  options.drain_ms = 77;
  options.spin_us = 1;
  options.dma_threads = 9;
  const auto applied = apply_environment(
      options, environment({{"TROUPE_CONFIG", file.path()}, {"TROUPE_DMA_THREADS", "3"}}));
  ASSERT_TRUE(applied.ok()) << applied.message();
  EXPECT_EQ(options.drain_ms, 77u);
  EXPECT_EQ(options.spin_us, 30u);
  EXPECT_EQ(options.dma_threads, 3u);
  EXPECT_EQ(options.devices.size(), 5u);
}

TEST(runtime_options, give_all_devices_the_profile_that_the_environment_names) {
  const scratch_file profile(R"({"name": "Tiny", "cores": 2})");
  runtime_options options;
  ASSERT_TRUE(apply_environment(options, environment({{"TROUPE_PROFILE", profile.path()}})).ok());
  ASSERT_EQ(options.devices.size(), 8u);
  for (const auto& device : options.devices) EXPECT_EQ(device.name, "Tiny");

  ASSERT_TRUE(apply_environment(options, environment({{"TROUPE_PROFILE", profile.path()},
                                                      {"TROUPE_DEVICES", "2"}})).ok());
  ASSERT_EQ(options.devices.size(), 2u);
  EXPECT_EQ(options.devices[1].cores, 2u);
}

TEST(runtime_options, name_variable_file_and_field_when_a_named_file_is_bad) {
  const scratch_file file(R"({"cores": 0})");
  runtime_options options;
  auto applied = apply_environment(options, environment({{"TROUPE_PROFILE", file.path()}}));
  EXPECT_EQ(applied.code(), code::invalid_parameter);
  EXPECT_THAT(applied.message(), AllOf(HasSubstr("TROUPE_PROFILE: " + file.path()),
                                       HasSubstr("cores: 0")));
  applied = apply_environment(options, environment({{"TROUPE_CONFIG", "no/such/file"}}));
  EXPECT_EQ(applied.code(), code::invalid_file);
  EXPECT_THAT(applied.message(), HasSubstr("TROUPE_CONFIG: no/such/file"));
  EXPECT_EQ(options, runtime_options{});
}

// Opening a pipe that nobody writes to would never return.
TEST(runtime_options, refuse_a_configuration_that_is_no_regular_file) {
  const auto path = testing::TempDir() + "runtime_options_test_" + std::to_string(::getpid());
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  runtime_options options;
  const auto applied = apply_environment(options, environment({{"TROUPE_CONFIG", path}}));
  std::remove(path.c_str());
  EXPECT_EQ(applied.code(), code::invalid_file);
  EXPECT_THAT(applied.message(), AllOf(HasSubstr(path), HasSubstr("no regular file")));
}

TEST(runtime_options, name_variables_that_set_nothing) {
  const char* const variables[] = {"TROUPE_SPIN_MS=3",    "HOME=/root",           "TROUPE_SPIN_US=3",
                                   "TROUPE_CONFIG=a",     "TROUPE_DEVICE=1",      "TROUPE_PROFILE=",
                                   "TROUPE_DEVICES=2",    "TROUPE_TEST_WORKERS=1", "MY_TROUPE_X=1",
                                   "TROUPE_STRESS_SEED=1", "TROUPE_FAULT_SEED=1",
                                   "TROUPE_SEED=1",        "TROUPE_SEEDS=1",       nullptr};
  EXPECT_THAT(unknown_variables(variables),
              testing::ElementsAre("TROUPE_DEVICE", "TROUPE_SEEDS", "TROUPE_SPIN_MS"));
  EXPECT_THAT(unknown_variables(nullptr), testing::IsEmpty());
}

TEST(runtime_options, validate_what_code_has_set) {
  runtime_options options;
  options.queue_depth = 1;
  EXPECT_EQ(options.validate().code(), code::invalid_parameter);
  EXPECT_THAT(options.validate().message(), HasSubstr("queue_depth: 1"));
  options = {};
  options.memory_budget_fraction = 1.5;
  EXPECT_THAT(options.validate().message(), HasSubstr("memory_budget_fraction: 1.5"));
  options = {};
  options.devices.clear();
  EXPECT_THAT(options.validate().message(), HasSubstr("devices: 0 devices"));
  options = {};
  options.devices[2].cores = 0;
  EXPECT_THAT(options.validate().message(), HasSubstr("devices[2]: cores: 0"));
}

TEST(runtime_options, describe_each_field_with_variable_default_and_range) {
  EXPECT_THAT(describe_option_fields(),
              HasSubstr("| `compute_threads` | `TROUPE_COMPUTE_THREADS` | 0 | "
                        "a whole number from 0 to 1024 |"));
}

} // namespace
} // namespace troupe
