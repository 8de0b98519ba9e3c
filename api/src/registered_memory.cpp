// Host memory of the program's own that devices reach directly.

#include "troupe/registered_memory.hpp"

#include <algorithm>
#include <bit>
#include <string>

#include "actors/use_table.hpp"
#include "actors/user_scope.hpp"
#include "actors/waiting.hpp"
#include "api/src/states.hpp"
#include "troupe/runtime.hpp"

namespace troupe {

result<registered_memory> runtime::register_host(void* address, std::size_t bytes) const {
  if (!home_) {
    return make_status(code::uninitialized, "the runtime handle is empty: it was moved from");
  }
  if (auto s = may_call(*home_, "runtime::register_host"); !s.ok()) return s;
  if (address == nullptr || bytes == 0) {
    return make_status(code::bad_argument, "a registration of " + std::to_string(bytes) +
                                               " bytes of host memory" +
                                               (address == nullptr ? " at null" : "; the least is 1"));
  }
  if (bytes > UINT64_MAX - std::bit_cast<std::uint64_t>(address)) {
    return make_status(code::invalid_parameter, "a registration of " + std::to_string(bytes) +
                                                    " bytes goes beyond the end of all addresses");
  }
  if (auto s = home_->start(); !s.ok()) return s;
  auto* first = static_cast<std::byte*>(address);
  for (const auto* each : {first, first + bytes - 1}) {
    const auto where = home_->locate(each);
    if (where.what == machine::place::kind::ordinary || where.memory == nullptr) continue;
    return make_status(code::invalid_parameter,
                       "memory to be registered is of the " + where.memory->name() + " already");
  }
  home_->count_uses();
  if (auto s = home_->uses().add_host(first, bytes); !s.ok()) return s;
  return registered_memory(home_, first, bytes);
}

status registered_memory::release() {
  if (data_ == nullptr) {
    return make_status(code::invalid_parameter, "the registration has ended before");
  }
  if (auto s = may_call(*owner_, "registered_memory::release"); !s.ok()) return s;
  const auto users = owner_->uses().users_of_host(data_);
  const auto at_work = std::find_if(users.begin(), users.end(),
                                    [](const ticket& each) { return !each.ended(); });
  if (at_work != users.end()) {
    return make_status(code::invalid_parameter,
                       "the registered memory of " + std::to_string(bytes_) +
                           " bytes is still used by stream " +
                           std::to_string(at_work->line->id()) + " up to number " +
                           std::to_string(at_work->number));
  }
  owner_->uses().forget(data_);
  data_ = nullptr;
  bytes_ = 0;
  owner_.reset();
  return {};
}

// An abort lets go of whoever waits, while an engine may be in the middle of it for one chunk more.
registered_memory::~registered_memory() {
  if (data_ == nullptr || owner_->inherited()) return;
  const bool may_wait =
      owner_->check_alive().ok() && user_scope::refuse_inside("~registered_memory").ok();
  for (const auto& each : owner_->uses().close_host(data_)) {
    auto end = wait_end::expired;
    while (may_wait && each.line->completed() < each.number && end != wait_end::let_go) {
      end = wait_for_number(owner_->room(), *each.line, each.number, never_ns);
    }
  }
  owner_->uses().forget(data_);
}

status registered_memory::check_view(std::size_t offset, std::size_t count, std::size_t size,
                                     std::size_t alignment) const {
  if (data_ == nullptr) {
    return make_status(code::invalid_handle, "the handle of registered memory is empty");
  }
  if (offset > bytes_ || count > (bytes_ - offset) / size) {
    return make_status(code::invalid_parameter,
                       std::to_string(count) + " elements of " + std::to_string(size) +
                           " bytes at offset " + std::to_string(offset) +
                           " leave the registered memory of " + std::to_string(bytes_) + " bytes");
  }
  if (std::bit_cast<std::uint64_t>(data_ + offset) % alignment != 0) {
    return make_status(code::invalid_parameter, "offset " + std::to_string(offset) +
                                                    " of the registered memory is not aligned to " +
                                                    std::to_string(alignment) + " bytes");
  }
  return {};
}

std::uint64_t registered_memory::id_of(const context& user) noexcept { return user.id(); }

} // namespace troupe
