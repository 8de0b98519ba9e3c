#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include <httplib.h>

namespace troupe::server {

/// The threads that serve connections. A connection has a thread for as long as it lives, so their
/// number is the limit of connections; what comes beyond it is taken by one more thread, where
/// `refusing()` is true, so that it is told 429 and does not wait for ever.
class connections : public httplib::TaskQueue {
public:
  explicit connections(std::size_t most);
  ~connections() override;
  connections(const connections&) = delete;
  connections& operator=(const connections&) = delete;

  void enqueue(std::function<void()> connection) override;
  void shutdown() override;

  /// Whether the calling thread serves connections that are one too many.
  [[nodiscard]] static bool refusing() noexcept;

private:
  /// Connections that wait for a thread of one kind.
  struct line {
    std::deque<std::function<void()>> waiting;
    std::condition_variable changed;
  };

  void serve(line& from, bool refuse);

  std::mutex mutex_;
  std::size_t free_; ///< threads that have no connection and no claim on one that waits
  line regular_;
  line surplus_;
  bool ended_ = false;
  std::vector<std::thread> threads_;
};

/// Whether the client that sent `r` has closed its connection, or has said that it sends no more.
/// For the thread that serves the connection.
[[nodiscard]] bool client_gone(const httplib::Request& r);

} // namespace troupe::server
