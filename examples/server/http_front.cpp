#include "examples/server/http_front.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "examples/digits/digits_data.hpp"
#include "examples/server/connections.hpp"

namespace troupe::server {

namespace {

constexpr auto json_type = "application/json";
constexpr std::size_t body_bytes_max = 64 * 1024;

/// HTTP's numbers for the verdicts; 499 is what servers log when nobody is there to read it.
constexpr std::array<int, verdict_count> http_codes{200, 429, 504, 499, 503, 503};

void refuse(httplib::Response& reply, int status, const std::string& why) {
  reply.status = status;
  if (status == 429 || status == 503) reply.set_header("Retry-After", "1");
  reply.set_content(nlohmann::json{{"error", why}}.dump(-1, ' ', false,
                    nlohmann::json::error_handler_t::replace) + "\n", json_type);
}

/// What a caller did wrong.
class bad_request : public std::runtime_error {
public:
  using std::runtime_error::runtime_error;
};

std::vector<float> image_of_bytes(const std::string& body) {
  if (body.size() != digits::image_pixels) {
    throw bad_request(fmt::format("the body has {} bytes; an image has {}, one a pixel", body.size(),
                                  digits::image_pixels));
  }
  std::vector<float> image(body.size());
  std::ranges::transform(body, image.begin(), [](char pixel) {
    return static_cast<float>(static_cast<unsigned char>(pixel)) / 255.0F;
  });
  return image;
}

std::vector<float> image_of_json(const std::string& body) {
  const auto parsed = nlohmann::json::parse(body, nullptr, false);
  if (!parsed.is_object() || !parsed.contains("pixels") || !parsed["pixels"].is_array()) {
    throw bad_request("the body is no JSON object with an array 'pixels'");
  }
  const auto& pixels = parsed["pixels"];
  if (pixels.size() != digits::image_pixels) {
    throw bad_request(fmt::format("'pixels' has {} numbers; an image has {}", pixels.size(),
                                  digits::image_pixels));
  }
  std::vector<float> image;
  for (const auto& pixel : pixels) {
    const auto value = pixel.is_number() ? pixel.get<double>() : -1.0;
    if (!(value >= 0.0 && value <= 255.0)) {
      throw bad_request(fmt::format("'pixels[{}]' is {}; a pixel is a number from 0 to 255",
                                    image.size(), pixel.dump()));
    }
    image.push_back(static_cast<float>(value) / 255.0F);
  }
  return image;
}

std::vector<float> image_of(const httplib::Request& asked) {
  const auto type = asked.get_header_value("Content-Type");
  return type.starts_with(json_type) ? image_of_json(asked.body) : image_of_bytes(asked.body);
}

std::chrono::milliseconds deadline_of(const httplib::Request& asked, const front_options& options) {
  if (!asked.has_header("X-Deadline-Ms")) return options.deadline;
  const auto text = asked.get_header_value("X-Deadline-Ms");
  std::int64_t limit = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), limit);
  if (error != std::errc() || end != text.data() + text.size() || limit < 1 ||
      limit > options.deadline_max.count()) {
    throw bad_request(fmt::format("X-Deadline-Ms is '{}'; it is a whole number from 1 to {}", text,
                                  options.deadline_max.count()));
  }
  return std::chrono::milliseconds(limit);
}

} // namespace

http_front::http_front(backend behind, const front_options& options)
    : behind_(std::move(behind)), options_(options) {
  http_.new_task_queue = [most = options.connections_max] { return new connections(most); };
  http_.set_payload_max_length(body_bytes_max);
  http_.set_keep_alive_max_count(1'000'000);
  http_.set_keep_alive_timeout(2);
  http_.set_tcp_nodelay(true);
  http_.set_pre_routing_handler([](const httplib::Request&, httplib::Response& reply) {
    if (!connections::refusing()) return httplib::Server::HandlerResponse::Unhandled;
    reply.set_header("Connection", "close");
    refuse(reply, 429, "all connections that the server serves at once are taken");
    return httplib::Server::HandlerResponse::Handled;
  });
  http_.Post("/classify", [this](const httplib::Request& asked, httplib::Response& reply) {
    classify(asked, reply);
  });
  http_.Get("/healthz", [this](const httplib::Request&, httplib::Response& reply) {
    const auto healthy = behind_.healthy();
    reply.status = healthy ? 200 : 503;
    reply.set_content(healthy ? "ok\n" : "not able to serve\n", "text/plain");
  });
  http_.Get("/metrics", [this](const httplib::Request&, httplib::Response& reply) {
    reply.set_content(behind_.metrics(), "text/plain; version=0.0.4");
  });
  port_ = options.port == 0 ? http_.bind_to_any_port(options.host)
                            : (http_.bind_to_port(options.host, options.port) ? options.port : -1);
  if (port_ < 0) {
    throw std::runtime_error(
        fmt::format("cannot listen at {} port {}: it is taken, or no address of this machine",
                    options.host, options.port));
  }
  listener_ = std::thread([this] { http_.listen_after_bind(); });
  while (!http_.is_running()) std::this_thread::yield();
}

http_front::~http_front() {
  stop();
}

void http_front::stop() {
  if (!listener_.joinable()) return;
  http_.stop();
  listener_.join();
}

void http_front::classify(const httplib::Request& asked, httplib::Response& reply) const {
  try {
    const auto image = image_of(asked);
    const auto deadline = clock::now() + deadline_of(asked, options_);
    const auto given = behind_.classify(image, deadline, [&asked] { return client_gone(asked); });
    if (given.what != verdict::answered) {
      refuse(reply, http_codes[static_cast<std::size_t>(given.what)], given.why);
      return;
    }
    const auto& scores = given.probabilities;
    const auto best = std::ranges::max_element(scores) - scores.begin();
    reply.set_content(nlohmann::json{{"digit", best}, {"probabilities", scores}}.dump() + "\n",
                      json_type);
  } catch (const bad_request& e) {
    refuse(reply, 400, e.what());
  }
}

} // namespace troupe::server
