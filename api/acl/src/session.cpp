#include "api/acl/src/session.hpp"

#include <cstdlib>
#include <string>
#include <utility>

#include <nlohmann/json.hpp>

#include "actors/user_scope.hpp"
#include "api/acl/src/for_good.hpp"
#include "core/text_file.hpp"

namespace troupe::acl {

constinit std::atomic<std::uint32_t> detail::made_in = 0;

namespace {

// What a program's configuration file says to this runtime: its object "troupe". The rest of it is
// for others.
result<runtime_options> read_config(const std::string& path) {
  auto text = read_text_file(path);
  if (!text) return text.error();
  const auto all = nlohmann::json::parse(text.value(), nullptr, false);
  if (all.is_discarded() || !all.is_object()) {
    return make_status(code::parse_file, "'" + path + "' does not hold a JSON object");
  }
  const auto ours = all.find("troupe");
  return runtime_options::from_json(ours != all.end() ? ours->dump() : "{}");
}

}  // namespace

session& session::instance() {
  return for_good<session>();
}

status session::begin(const char* config_path) {
  const std::lock_guard lock(guard_);
  if (state_ == state::begun) {
    return make_status(code::repeat_initialize, "aclInit: the interface is initialised already");
  }
  runtime_options options;
  if (config_path != nullptr && *config_path != '\0') {
    auto read = read_config(config_path);
    if (!read) return read.error();
    options = std::move(read).value();
  }
  if (auto s = apply_environment(options); !s.ok()) return s;
  options_ = std::move(options);
  has_options_ = true;
  state_ = state::begun;
  return {};
}

status session::end() {
  if (auto s = user_scope::refuse_inside("aclFinalize"); !s.ok()) return s;
  runtime* ending = nullptr;
  {
    const std::lock_guard lock(guard_);
    if (state_ == state::untouched) {
      return make_status(code::uninitialized, "aclFinalize: the interface was never initialised");
    }
    if (state_ == state::ended) {
      return make_status(code::repeat_finalize, "aclFinalize: the interface has been finalised");
    }
    state_ = state::ended;
    has_options_ = false;
    ending = live_.exchange(nullptr);
  }
  return ending != nullptr ? ending->shutdown() : status{};
}

std::uint64_t session::references() const {
  const std::lock_guard lock(guard_);
  return state_ == state::begun ? 1 : 0;
}

runtime& session::make() {
  const std::lock_guard lock(guard_);
  if (auto* const there = live_.load()) return *there;
  if (state_ == state::ended) {
    throw error(code::uninitialized, "the interface has been finalised");
  }
  auto options = options_;
  if (!has_options_) apply_environment(options).or_throw();
  auto made = make_with(std::move(options));
  if (!made) throw error(made.error());
  watch_forks();
  detail::made_in.store(fork_generation() + 1, std::memory_order_relaxed);
  if (all_.empty()) std::atexit(&session::end_at_exit);
  all_.push_back(std::make_unique<runtime>(std::move(made).value()));
  live_.store(all_.back().get(), std::memory_order_release);
  return *all_.back();
}

result<runtime> session::make_with(runtime_options options) const {
  if (!interlude_) return runtime::create(std::move(options), false);
  return interlude_->play->make_runtime(std::move(options), interlude_->faults);
}

void session::begin_play(testing::stage& play, std::optional<fault_plan> faults) {
  const std::lock_guard lock(guard_);
  interlude_.emplace(interlude{&play, std::move(faults), state_, options_, has_options_,
                               live_.exchange(nullptr), all_.size()});
  state_ = state::untouched;
}

// What was made for the play nobody uses any more.
void session::end_play() {
  const std::lock_guard lock(guard_);
  if (!interlude_) return;
  auto before = *std::exchange(interlude_, std::nullopt);
  state_ = before.before;
  options_ = std::move(before.options);
  has_options_ = before.has_options;
  live_.store(before.live);
  all_.resize(before.made);
}

bool session::played() const {
  const std::lock_guard lock(guard_);
  return interlude_.has_value();
}

// Before the static destructors of the program: no callback may run after `main`. They may call on:
// what needs the runtime is refused, and `aclFinalize` succeeds.
void session::end_at_exit() {
  auto* const live = instance().live_.load();
  if (live != nullptr) (void)live->shutdown();
}

}  // namespace troupe::acl
