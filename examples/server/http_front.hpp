#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <string>
#include <thread>

#include <httplib.h>

#include "examples/server/answer.hpp"

namespace troupe::server {

/// What the front needs to know of what is behind it.
struct backend {
  classifier classify;
  std::function<bool()> healthy;       ///< whether new requests make sense
  std::function<std::string()> metrics; ///< in Prometheus' text format
};

struct front_options {
  std::string host = "127.0.0.1";
  int port = 0; ///< 0: any that is free
  std::size_t connections_max = 256;
  std::chrono::milliseconds deadline{1000};      ///< of requests that name none
  std::chrono::milliseconds deadline_max{60000}; ///< that a request may name
};

/// The HTTP side: `POST /classify`, `GET /healthz`, `GET /metrics`. See README.md for what they take
/// and answer.
class http_front {
public:
  /// Listens from now on. Throws `std::runtime_error` when the address cannot be had.
  http_front(backend behind, const front_options& options);

  /// As `stop`.
  ~http_front();

  http_front(const http_front&) = delete;
  http_front& operator=(const http_front&) = delete;

  [[nodiscard]] int port() const noexcept { return port_; }

  /// Takes no new connections, and returns when those that there are have ended: idle ones at once,
  /// the others with the answer to their request.
  void stop();

private:
  void classify(const httplib::Request& asked, httplib::Response& reply) const;

  const backend behind_;
  const front_options options_;
  httplib::Server http_;
  int port_ = -1;
  std::thread listener_;
};

} // namespace troupe::server
