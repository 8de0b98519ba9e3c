#include "tests/bench/child.hpp"

#include <fmt/format.h>
#include <gsl/gsl>

#include <poll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <system_error>
#include <type_traits>

namespace troupe::bench {

namespace {

/// An answer as it crosses the socket.
struct wire_answer {
  answer::kind outcome;
  double figure;
  std::array<char, 240> reason;
};
static_assert(std::is_trivially_copyable_v<wire_answer>);

wire_answer failure(answer::kind outcome, std::string_view reason) {
  wire_answer result{outcome, 0, {}};
  const auto length = std::min(reason.size(), result.reason.size() - 1);
  std::copy_n(reason.begin(), length, result.reason.begin());
  return result;
}

wire_answer measure(const setup& prepare, const workload& work, repetition& prepared) {
  try {
    if (!prepared)
      prepared = prepare(work);
    return {answer::kind::figure, prepared(), {}};
  } catch (const unavailable& e) {
    return failure(answer::kind::unavailable, e.what());
  } catch (const std::exception& e) {
    return failure(answer::kind::failed, e.what());
  } catch (...) {
    return failure(answer::kind::failed, "threw something that is no exception");
  }
}

/// The child's whole life. Leaves by `_exit`, so that neither the contender's destructors nor the
/// parent's copied output buffers run.
[[noreturn]] void serve(int socket, const setup& prepare, const workload& work) {
  // Also ends a stopped child when the parent is killed.
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  repetition prepared;
  char go = 0;
  while (recv(socket, &go, 1, 0) == 1) {
    const auto result = measure(prepare, work, prepared);
    if (send(socket, &result, sizeof result, MSG_NOSIGNAL) != sizeof result)
      break;
  }
  _exit(0);
}

enum class arrival { ready, late, broken };

arrival wait_readable(int socket, std::chrono::seconds limit) {
  using clock = std::chrono::steady_clock;
  const auto deadline = clock::now() + limit;
  for (;;) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - clock::now());
    pollfd entry{socket, POLLIN, 0};
    const int ready = poll(&entry, 1, gsl::narrow<int>(std::max<long>(0, left.count())));
    if (ready > 0)
      return arrival::ready;
    if (ready == 0)
      return arrival::late;
    if (errno != EINTR)
      return arrival::broken;
  }
}

}  // namespace

child::child(const setup& prepare, const workload& work) {
  Expects(prepare != nullptr);
  std::array<int, 2> ends{};
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) != 0)
    throw std::system_error(errno, std::generic_category(), "socketpair");
  pid_ = fork();
  if (pid_ < 0) {
    const int error = errno;
    close(ends[0]);
    close(ends[1]);
    throw std::system_error(error, std::generic_category(), "fork");
  }
  if (pid_ == 0) {
    close(ends[0]);
    serve(ends[1], prepare, work);
  }
  close(ends[1]);
  socket_ = ends[0];
  kill(pid_, SIGSTOP);
}

child::~child() {
  if (pid_ > 0)
    end();
  close(socket_);
}

answer child::turn(std::chrono::seconds limit) {
  Expects(pid_ > 0);
  kill(pid_, SIGCONT);
  const char go = 1;
  if (send(socket_, &go, 1, MSG_NOSIGNAL) != 1)
    return {answer::kind::failed, 0, end()};
  if (wait_readable(socket_, limit) == arrival::late) {
    end();
    return {answer::kind::failed, 0, fmt::format("no answer within {} s", limit.count())};
  }
  wire_answer received{};
  if (recv(socket_, &received, sizeof received, 0) != sizeof received)
    return {answer::kind::failed, 0, end()};
  if (received.outcome == answer::kind::figure)
    stop();
  else
    end();
  return {received.outcome, received.figure, received.reason.data()};
}

void child::stop() {
  kill(pid_, SIGSTOP);
  // Signals arrive late; the next contender must not start before. If the process has died instead,
  // its end stays there to be reported by the next turn.
  siginfo_t info{};
  while (waitid(P_PID, gsl::narrow<id_t>(pid_), &info, WSTOPPED | WEXITED | WNOWAIT) != 0 &&
         errno == EINTR) {
  }
}

std::string child::end() {
  int status = 0;
  // Harmless if it is dying already: what it died of stays its status.
  kill(pid_, SIGKILL);
  waitpid(pid_, &status, 0);
  pid_ = -1;
  if (WIFSIGNALED(status))
    return fmt::format("killed by signal {} ({})", WTERMSIG(status), strsignal(WTERMSIG(status)));
  return fmt::format("left with code {}", WEXITSTATUS(status));
}

}  // namespace troupe::bench
