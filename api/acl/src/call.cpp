#include "api/acl/src/call.hpp"

#include <array>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <new>
#include <string_view>

#include "api/acl/src/error_output.hpp"
#include "api/acl/src/for_good.hpp"

namespace troupe::acl {
namespace {

// Plain data, so that destructors of a thread's other objects may still report failures.
constexpr std::size_t message_bytes = 1024;
struct recent {
  std::array<char, message_bytes> text;
  bool fresh;
};
constinit thread_local int last = 0;
constinit thread_local recent noted{};
constinit thread_local std::array<char, message_bytes> handed{};

void note(std::string_view text) noexcept {
  const auto size = text.copy(noted.text.data(), message_bytes - 1);
  noted.text[size] = '\0';
  noted.fresh = true;
}

// Which functions a program called that do not do their work, and how often.
struct tally {
  std::mutex guard;
  std::map<std::string, unsigned long, std::less<>> calls;
};

tally& unsupported_calls() {
  return for_good<tally>();
}

bool wants_report() {
  const auto* const asked = std::getenv("TROUPE_ACL_REPORT");
  return asked != nullptr && std::string_view(asked) == "1";
}

void tell_unsupported_calls() {
  if (!wants_report()) return;
  auto& all = unsupported_calls();
  const std::lock_guard lock(all.guard);
  std::string text =
      "troupe: functions called that are not supported: " + std::to_string(all.calls.size()) + "\n";
  for (const auto& [name, count] : all.calls) {
    text += "troupe: " + name + " " + std::to_string(count) + "\n";
  }
  write_error_output(text);
}

}  // namespace

int report(const status& outcome) noexcept {
  const auto number = static_cast<int>(outcome.code());
  try {
    note("[" + std::to_string(number) + "] " + outcome.describe());
  } catch (...) {
    note(outcome.message());
  }
  const bool outer = number / 1000 == 100;
  if (!outer) last = number;
  return number;
}

int report_current_exception() noexcept {
  try {
    throw;
  } catch (const error& e) {
    return report(e.outcome());
  } catch (const std::bad_alloc&) {
    note("the process has no memory left");
    return last = static_cast<int>(code::memory_allocation);
  } catch (const std::exception& e) {
    note(e.what());
  } catch (...) {
    note("an exception of a type of its own");
  }
  return last = static_cast<int>(code::internal_error);
}

int report_inherited() noexcept {
  note("this process was forked after the runtime had been used; it must exec first");
  return last = static_cast<int>(code::not_supported);
}

status bad_argument(const std::string& what) {
  return make_status(code::bad_argument, what);
}

status bad_parameter(const std::string& what) {
  return make_status(code::invalid_parameter, what);
}

status unsupported(const char* function, const std::string& what) {
  [[maybe_unused]] static const int at_exit = std::atexit(&tell_unsupported_calls);
  auto& all = unsupported_calls();
  const std::lock_guard lock(all.guard);
  ++all.calls[function];
  return make_status(code::not_supported, std::string(function) + ": " + what);
}

int last_error(bool clear) noexcept {
  return clear ? std::exchange(last, 0) : last;
}

const char* take_recent_message() noexcept {
  if (!noted.fresh) return nullptr;
  noted.fresh = false;
  handed = noted.text;
  return handed.data();
}

}  // namespace troupe::acl
