#include "examples/server/connections.hpp"

#include <netdb.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <string>
#include <utility>

namespace troupe::server {

namespace {

thread_local bool refuses = false;

/// One end of a connection as the library writes it: the address in numbers, and the port.
struct endpoint {
  std::string host;
  int port = -1;
  bool operator==(const endpoint&) const = default;
};

using name_function = int (*)(int, sockaddr*, socklen_t*);

endpoint end_of(int fd, name_function name) {
  sockaddr_storage address{};
  auto* const plain = reinterpret_cast<sockaddr*>(&address);
  socklen_t bytes = sizeof address;
  std::array<char, NI_MAXHOST> host{};
  std::array<char, NI_MAXSERV> port{};
  if (name(fd, plain, &bytes) != 0 ||
      getnameinfo(plain, bytes, host.data(), host.size(), port.data(), port.size(),
                  NI_NUMERICHOST | NI_NUMERICSERV) != 0) {
    return {};
  }
  return {host.data(), std::atoi(port.data())};
}

bool connects(int fd, const httplib::Request& r) {
  return end_of(fd, getpeername) == endpoint{r.remote_addr, r.remote_port} &&
         end_of(fd, getsockname) == endpoint{r.local_addr, r.local_port};
}

/// The descriptor of the connection that `r` came by, or -1. The library does not tell it. It stays
/// what it is as long as the calling thread serves it, so the last one is looked at first.
int connection_of(const httplib::Request& r) {
  thread_local int last = -1;
  if (last >= 0 && connects(last, r)) return last;
  rlimit open{};
  if (getrlimit(RLIMIT_NOFILE, &open) != 0) return -1;
  const auto end = static_cast<int>(std::min<rlim_t>(open.rlim_cur, 65536));
  for (last = 0; last < end; ++last) {
    if (connects(last, r)) return last;
  }
  return last = -1;
}

} // namespace

connections::connections(std::size_t most) : free_(most) {
  for (std::size_t index = 0; index < most; ++index) {
    threads_.emplace_back([this] { serve(regular_, false); });
  }
  threads_.emplace_back([this] { serve(surplus_, true); });
}

connections::~connections() {
  shutdown();
}

void connections::enqueue(std::function<void()> connection) {
  const std::lock_guard lock(mutex_);
  auto& to = free_ > 0 ? regular_ : surplus_;
  if (free_ > 0) --free_;
  to.waiting.push_back(std::move(connection));
  to.changed.notify_one();
}

void connections::shutdown() {
  {
    const std::lock_guard lock(mutex_);
    ended_ = true;
  }
  regular_.changed.notify_all();
  surplus_.changed.notify_all();
  for (auto& each : threads_) each.join();
  threads_.clear();
}

bool connections::refusing() noexcept {
  return refuses;
}

void connections::serve(line& from, bool refuse) {
  refuses = refuse;
  for (;;) {
    std::unique_lock lock(mutex_);
    from.changed.wait(lock, [&] { return !from.waiting.empty() || ended_; });
    if (from.waiting.empty()) return;
    const auto connection = std::move(from.waiting.front());
    from.waiting.pop_front();
    lock.unlock();
    connection();
    lock.lock();
    if (!refuse) ++free_;
  }
}

bool client_gone(const httplib::Request& r) {
  const auto fd = connection_of(r);
  if (fd < 0) return false;
  pollfd look{fd, POLLRDHUP, 0};
  return poll(&look, 1, 0) > 0 && (look.revents & (POLLRDHUP | POLLHUP | POLLERR)) != 0;
}

} // namespace troupe::server
