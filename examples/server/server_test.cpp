#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <future>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <troupe/troupe.hpp>

#include "examples/digits/bare_loop.hpp"
#include "examples/server/http_front.hpp"
#include "examples/server/metrics.hpp"
#include "examples/server/service.hpp"

namespace troupe::server {

namespace {

const std::filesystem::path data(DIGITS_DATA_DIR);

const digits::weight_set& weights() {
  static const auto loaded = digits::weight_set::load(data / "weights.bin");
  return loaded;
}

/// The first images of the test set, and what the network says of them without a device.
struct sample {
  digits::image_set images;
  std::vector<std::uint8_t> digits;

  [[nodiscard]] std::string body(std::size_t index) const {
    const auto first = images.pixels.begin() + static_cast<std::ptrdiff_t>(index * digits::image_pixels);
    return {first, first + digits::image_pixels};
  }
};

const sample& samples() {
  static const auto made = [] {
    sample all{digits::load_image_set(data / "test_images.idx.gz", data / "test_labels.idx.gz"), {}};
    all.images.labels.resize(200);
    all.images.pixels.resize(200 * digits::image_pixels);
    all.digits = digits::run_bare_loop(digits::network(1, weights()), all.images).predictions;
    return all;
  }();
  return made;
}

/// A plan of faults for the runtimes that are made while this lives.
class planned_faults {
public:
  explicit planned_faults(const std::string& plan)
      : path_(std::filesystem::temp_directory_path() /
              ("server_test_plan_" + std::to_string(::getpid()) + ".json")) {
    std::ofstream(path_) << plan;
    ::setenv("TROUPE_FAULT_PLAN", path_.c_str(), 1);
  }
  ~planned_faults() {
    ::unsetenv("TROUPE_FAULT_PLAN");
    std::filesystem::remove(path_);
  }
  planned_faults(const planned_faults&) = delete;
  planned_faults& operator=(const planned_faults&) = delete;

private:
  std::filesystem::path path_;
};

runtime_options one_device() {
  runtime_options options;
  options.devices.resize(1);
  return options;
}

/// The whole server in this process, at a port of its own.
struct server {
  explicit server(const service_options& size = {}, const front_options& how = {})
      : home(one_device()),
        where(home.device(0).value()),
        behind(home, where, weights(), size),
        front({[this](auto image, auto deadline, const auto& gone) {
                 return behind.classify(image, deadline, gone);
               },
               [this] { return !behind.draining() && behind.able(); },
               [this] { return metrics_text(behind, where); }},
              how) {}

  [[nodiscard]] httplib::Client client() const {
    return httplib::Client("127.0.0.1", front.port());
  }

  [[nodiscard]] std::uint64_t counted(verdict what) const {
    return behind.count().requests[static_cast<std::size_t>(what)].load();
  }

  runtime home;
  device where;
  service behind;
  http_front front;
};

constexpr auto bytes = "application/octet-stream";
constexpr std::chrono::hours long_time{1};

void yield_until(const std::function<bool()>& reached) {
  while (!reached()) std::this_thread::yield();
}

const std::function<bool()> stays = [] { return false; };

std::vector<float> image(std::size_t index) {
  std::vector<float> made(digits::image_pixels);
  digits::fill_batch(samples().images, index, made);
  return made;
}

std::size_t digit_of(const answer& a) {
  return static_cast<std::size_t>(std::ranges::max_element(a.probabilities) -
                                  a.probabilities.begin());
}

constexpr auto first_convolution_never_ends = R"({"entries": [
  {"pick": {"point": "execute", "operation": "digits/conv2d+bias_add+relu"},
   "action": {"kind": "never_complete"}}]})";

} // namespace

TEST(server, S21_answers_many_clients_as_the_network_does) {
  const server s;
  std::vector<std::thread> clients;
  std::atomic<int> wrong = 0;
  for (std::size_t first = 0; first < 8; ++first) {
    clients.emplace_back([&, first] {
      auto http = s.client();
      http.set_keep_alive(true);
      for (auto index = first; index < samples().digits.size(); index += 8) {
        const auto reply = http.Post("/classify", samples().body(index), bytes);
        const auto right = reply && reply->status == 200 &&
                           nlohmann::json::parse(reply->body)["digit"] == samples().digits[index];
        if (!right) ++wrong;
      }
    });
  }
  for (auto& each : clients) each.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(s.counted(verdict::answered), samples().digits.size());
  EXPECT_EQ(s.where.memory().value().quarantined, 0U);
}

TEST(server, S21_takes_json_and_names_what_is_wrong_in_a_request) {
  const server s;
  auto http = s.client();
  nlohmann::json good;
  for (const auto pixel : samples().body(3)) {
    good["pixels"].push_back(static_cast<unsigned char>(pixel));
  }
  const auto reply = http.Post("/classify", good.dump(), "application/json");
  ASSERT_TRUE(reply);
  EXPECT_EQ(nlohmann::json::parse(reply->body)["digit"], samples().digits[3]);

  const auto refused = [&](const httplib::Headers& headers, const std::string& body,
                           const char* type, const std::string& text) {
    const auto bad = http.Post("/classify", headers, body, type);
    ASSERT_TRUE(bad);
    EXPECT_EQ(bad->status, 400);
    EXPECT_NE(bad->body.find(text), std::string::npos) << bad->body;
  };
  refused({}, "short", bytes, "the body has 5 bytes; an image has 784, one a pixel");
  refused({}, "{]", "application/json", "no JSON object with an array 'pixels'");
  refused({}, R"({"pixels": [1, 2]})", "application/json", "'pixels' has 2 numbers");
  good["pixels"][7] = 256;
  refused({}, good.dump(), "application/json", "'pixels[7]' is 256");
  refused({{"X-Deadline-Ms", "0"}}, samples().body(0), bytes, "X-Deadline-Ms is '0'");
  refused({{"X-Deadline-Ms", "5s"}}, samples().body(0), bytes, "a whole number from 1 to 60000");
  EXPECT_EQ(http.Post("/classify", std::string(70'000, 'x'), bytes)->status, 413);
  EXPECT_EQ(http.Get("/nothing")->status, 404);
}

// The lane is held by a kernel that never ends, until the client that wants it has gone.
TEST(server, S21_refuses_at_once_when_full_and_frees_the_lane_when_a_client_goes) {
  const planned_faults plan(first_convolution_never_ends);
  const runtime home(one_device());
  service s(home, home.device(0).value(), weights(), {1, 1, 1});
  std::atomic<bool> gone = false;
  const auto deadline = clock::now() + long_time;
  auto stuck = std::async(std::launch::async, [&] {
    return s.classify(image(0), deadline, [&] { return gone.load(); });
  });
  yield_until([&] { return s.count().batches.load() == 1; });
  auto waiting = std::async(std::launch::async, [&] { return s.classify(image(1), deadline, stays); });
  yield_until([&] { return s.waiting() == 1; });

  const auto refused = s.classify(image(2), deadline, stays);
  EXPECT_EQ(refused.what, verdict::overloaded);
  EXPECT_EQ(refused.why, "1 requests wait already, the limit");

  gone = true;
  EXPECT_EQ(stuck.get().what, verdict::cancelled);
  const auto served = waiting.get();
  EXPECT_EQ(served.what, verdict::answered) << served.why;
  EXPECT_EQ(digit_of(served), samples().digits[1]);
  EXPECT_EQ(s.count().rebuilds.load(), 1U);
}

TEST(server, S21_a_deadline_ends_the_request_and_what_was_done_for_it) {
  const planned_faults plan(first_convolution_never_ends);
  const server s({1, 1, 4});
  auto http = s.client();
  const auto late = http.Post("/classify", {{"X-Deadline-Ms", "100"}}, samples().body(0), bytes);
  ASSERT_TRUE(late);
  EXPECT_EQ(late->status, 504);
  const auto next = http.Post("/classify", {{"X-Deadline-Ms", "60000"}}, samples().body(1), bytes);
  ASSERT_TRUE(next);
  EXPECT_EQ(next->status, 200) << next->body;
}

TEST(server, S21_sees_that_a_client_closed_its_connection) {
  const planned_faults plan(first_convolution_never_ends);
  const server s({1, 1, 4});
  {
    auto impatient = s.client();
    impatient.set_read_timeout(std::chrono::milliseconds(50));
    EXPECT_FALSE(impatient.Post("/classify", {{"X-Deadline-Ms", "60000"}}, samples().body(0), bytes));
  }
  yield_until([&] { return s.counted(verdict::cancelled) == 1; });
  EXPECT_EQ(s.client().Post("/classify", samples().body(1), bytes)->status, 200);
}

// Each request has one answer, and an answer of the network is the right one, whatever the device does.
TEST(server, S22_no_request_is_lost_or_answered_wrongly_under_faults) {
  const planned_faults plan(R"({"seed": 7, "entries": [
    {"pick": {"point": "execute", "operation": "digits/max_pool", "chance": 0.03, "times": 0},
     "action": {"kind": "fail_at_execution", "code": 507015}},
    {"pick": {"point": "submit", "operation": "captured", "chance": 0.02, "times": 0},
     "action": {"kind": "fail_at_submit"}},
    {"pick": {"point": "complete", "chance": 0.01, "times": 2}, "action": {"kind": "drop"}},
    {"pick": {"point": "execute", "operation": "digits/matmul+bias_add", "ordinal": 40},
     "action": {"kind": "lose_device", "ms": 30}},
    {"pick": {"point": "execute", "operation": "digits/matmul+bias_add+relu", "ordinal": 80},
     "action": {"kind": "kill_actor"}}]})");
  const server s;
  std::atomic<int> right = 0;
  std::atomic<int> told = 0;
  std::atomic<int> wrong = 0;
  std::vector<std::thread> clients;
  for (std::size_t first = 0; first < 4; ++first) {
    clients.emplace_back([&, first] {
      auto http = s.client();
      http.set_keep_alive(true);
      http.set_read_timeout(std::chrono::seconds(120));
      for (std::size_t index = first; index < 400; index += 4) {
        const auto which = index % samples().digits.size();
        const auto reply = http.Post("/classify", {{"X-Deadline-Ms", "60000"}},
                                     samples().body(which), bytes);
        if (!reply) {
          ++wrong;
        } else if (reply->status == 200) {
          const auto fits = nlohmann::json::parse(reply->body)["digit"] == samples().digits[which];
          ++(fits ? right : wrong);
        } else {
          ++(reply->status == 503 ? told : wrong);
        }
      }
    });
  }
  for (auto& each : clients) each.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(right + told, 400);
  EXPECT_GT(right, 200);
  EXPECT_GT(s.behind.count().retries.load(), 0U);
}

TEST(server, S21_draining_answers_what_was_accepted_and_refuses_the_rest) {
  server s;
  std::atomic<int> unexpected = 0;
  std::atomic<int> answered = 0;
  std::vector<std::thread> clients;
  for (int index = 0; index < 4; ++index) {
    clients.emplace_back([&] {
      for (;;) {
        const auto given = s.behind.classify(image(0), clock::now() + long_time, stays);
        if (given.what == verdict::draining) return;
        ++(given.what == verdict::answered ? answered : unexpected);
      }
    });
  }
  yield_until([&] { return answered > 20; });
  EXPECT_EQ(s.client().Get("/healthz")->status, 200);
  s.behind.drain();
  for (auto& each : clients) each.join();
  EXPECT_EQ(unexpected, 0);
  EXPECT_EQ(s.client().Get("/healthz")->status, 503);
  const auto refused = s.client().Post("/classify", samples().body(0), bytes);
  EXPECT_EQ(refused->status, 503);
  EXPECT_EQ(refused->get_header_value("Retry-After"), "1");
}

TEST(server, S21_a_connection_too_many_is_told_so) {
  std::promise<void> gate;
  auto opened = gate.get_future().share();
  std::atomic<bool> inside = false;
  front_options one;
  one.connections_max = 1;
  const http_front front({[&](auto, auto, const auto&) {
                            inside = true;
                            opened.wait();
                            return answer{verdict::answered, {}, {}};
                          },
                          [] { return true; }, [] { return std::string(); }},
                         one);
  httplib::Client first("127.0.0.1", front.port());
  httplib::Client second("127.0.0.1", front.port());
  auto served = std::async(std::launch::async,
                           [&] { return first.Post("/classify", samples().body(0), bytes); });
  yield_until([&] { return inside.load(); });
  const auto refused = second.Post("/classify", samples().body(0), bytes);
  ASSERT_TRUE(refused);
  EXPECT_EQ(refused->status, 429);
  gate.set_value();
  EXPECT_EQ(served.get()->status, 200);
}

TEST(server, S14_metrics_count_every_request_once) {
  const server s;
  auto http = s.client();
  for (std::size_t index = 0; index < 10; ++index) {
    EXPECT_EQ(http.Post("/classify", samples().body(index), bytes)->status, 200);
  }
  const auto page = http.Get("/metrics");
  ASSERT_TRUE(page);
  EXPECT_EQ(page->get_header_value("Content-Type"), "text/plain; version=0.0.4");
  EXPECT_NE(page->body.find("digits_requests_total{verdict=\"answered\"} 10\n"), std::string::npos);
  EXPECT_NE(page->body.find("digits_latency_seconds_bucket{le=\"+Inf\"} 10\n"), std::string::npos);
  EXPECT_NE(page->body.find("digits_batched_requests_total 10\n"), std::string::npos);
  EXPECT_NE(page->body.find("troupe_memory_used_bytes "), std::string::npos);
}

TEST(server, an_address_that_cannot_be_had_is_named) {
  front_options there;
  there.host = "203.0.113.1"; // of the block reserved for documentation (RFC 5737)
  there.port = 1;
  const backend none{[](auto, auto, const auto&) { return answer{}; }, [] { return true; },
                     [] { return std::string(); }};
  try {
    const http_front front(none, there);
    FAIL() << "it listens";
  } catch (const std::runtime_error& e) {
    EXPECT_NE(std::string(e.what()).find("203.0.113.1 port 1"), std::string::npos) << e.what();
  }
}

} // namespace troupe::server
