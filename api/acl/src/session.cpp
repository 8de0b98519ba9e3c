#include "api/acl/src/session.hpp"

#include <cstdlib>
#include <string>
#include <utility>

#include <nlohmann/json.hpp>

#include "actors/faults/environment.hpp"
#include "actors/user_scope.hpp"
#include "api/acl/src/for_good.hpp"
#include "api/src/runtime_maker.hpp"
#include "core/text_file.hpp"

namespace troupe::acl {

constinit std::atomic<std::uint32_t> detail::made_in = 0;

namespace {

// What a program's configuration file says to this runtime, its object "troupe": options, and a plan
// of faults or the file with it. The rest of the file is for others.
struct settings {
  runtime_options options;
  std::optional<fault_plan> faults;
};

result<settings> read_config(const std::string& path) {
  auto text = read_text_file(path);
  if (!text) return text.error();
  const auto all = nlohmann::json::parse(text.value(), nullptr, false);
  if (all.is_discarded() || !all.is_object()) {
    return make_status(code::parse_file, "'" + path + "' does not hold a JSON object");
  }
  auto ours = all.value("troupe", nlohmann::json::object());
  settings made;
  if (ours.is_object() && ours.contains("fault_plan")) {
    const auto& what = ours["fault_plan"];
    auto plan = what.is_string() ? fault_plan::from_file(what.get<std::string>())
                                 : fault_plan::from_json(what.dump());
    if (!plan) return plan.error();
    made.faults = std::move(plan).value();
    ours.erase("fault_plan");
  }
  auto options = runtime_options::from_json(ours.dump());
  if (!options) return options.error();
  made.options = std::move(options).value();
  return made;
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
  settings said;
  if (config_path != nullptr && *config_path != '\0') {
    auto read = read_config(config_path);
    if (!read) return read.error();
    said = std::move(read).value();
  }
  if (auto s = apply_environment(said.options); !s.ok()) return s;
  options_ = std::move(said.options);
  faults_ = std::move(said.faults);
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
    faults_.reset();
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
  auto made = std::make_unique<runtime>(make_with(std::move(options)));
  watch_forks();
  detail::made_in.store(fork_generation() + 1, std::memory_order_relaxed);
  if (all_.empty()) std::atexit(&session::end_at_exit);
  all_.push_back(std::move(made));
  live_.store(all_.back().get(), std::memory_order_release);
  return *all_.back();
}

// A plan that the environment names comes before that of a file.
runtime session::make_with(runtime_options options) const {
  if (interlude_) return interlude_->play->make_runtime(std::move(options), interlude_->faults);
  auto faults = fault_plan_of_environment().value();
  if (!faults) faults = faults_;
  return runtime_maker::make(std::move(options), nullptr, std::move(faults));
}

void session::begin_play(testing::stage& play, std::optional<fault_plan> faults) {
  const std::lock_guard lock(guard_);
  interlude_.emplace(interlude{&play, std::move(faults), state_, options_, has_options_, faults_,
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
  faults_ = std::move(before.file_faults);
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
