#include "actors/use_table.hpp"

#include <algorithm>
#include <functional>
#include <iterator>
#include <string>
#include <utility>

#include "actors/device_record.hpp"
#include "actors/machine.hpp"
#include "actors/temporary_record.hpp"

namespace troupe {
namespace {

status was_released(const command& c, const temporary_record& one) {
  return make_status(code::invalid_parameter,
                     std::string("'") + c.name + "' uses the temporary block of " +
                         std::to_string(one.bytes()) + " bytes of context " +
                         std::to_string(one.owner()) +
                         ", which was released when memory was short: its contents are gone");
}

} // namespace

use_table::entry_table::iterator use_table::find(const void* address) {
  const auto* at = static_cast<const std::byte*>(address);
  const auto above = entries_.upper_bound(at);
  if (above == entries_.begin()) return entries_.end();
  const auto found = std::prev(above);
  return static_cast<std::uint64_t>(at - found->first) < found->second.bytes ? found
                                                                             : entries_.end();
}

use_table::entry_table::const_iterator use_table::find(const void* address) const {
  return const_cast<use_table*>(this)->find(address);
}

// -- registered host memory ---------------------------------------------------

status use_table::add_host(const std::byte* base, std::uint64_t bytes) {
  const std::lock_guard lock(guard_);
  const auto above = entries_.lower_bound(base);
  const bool meets = find(base) != entries_.end() ||
                     (above != entries_.end() && std::less<>()(above->first, base + bytes));
  if (meets) {
    return make_status(code::invalid_parameter, "some of these " + std::to_string(bytes) +
                                                    " bytes of host memory are registered already");
  }
  entries_.emplace(base, entry{bytes, nullptr, false, 0, {}, 0, false});
  return {};
}

bool use_table::is_host(const void* address, std::uint64_t bytes) const {
  const std::lock_guard lock(guard_);
  const auto found = find(address);
  if (found == entries_.end() || found->second.temporary || found->second.closed) return false;
  const auto before =
      static_cast<std::uint64_t>(static_cast<const std::byte*>(address) - found->first);
  return bytes <= found->second.bytes - before;
}

frontier use_table::users_of_host(const std::byte* base) const {
  const std::lock_guard lock(guard_);
  const auto found = entries_.find(base);
  return found != entries_.end() ? found->second.pending : frontier{};
}

frontier use_table::close_host(const std::byte* base) {
  const std::lock_guard lock(guard_);
  const auto found = entries_.find(base);
  if (found == entries_.end()) return {};
  found->second.closed = true;
  return found->second.pending;
}

void use_table::forget(const std::byte* base) {
  const std::lock_guard lock(guard_);
  entries_.erase(base);
}

// -- temporary blocks ---------------------------------------------------------

void use_table::add_temporary(const std::shared_ptr<temporary_record>& one) {
  const std::lock_guard lock(guard_);
  entries_.insert_or_assign(one->data(), entry{one->bytes(), one, false, 0, {}, ++last_use_, false});
}

void use_table::drop_temporary(const temporary_record& one) {
  const std::lock_guard lock(guard_);
  const auto found = entries_.find(one.data());
  if (found != entries_.end()) found->second.closed = true;
}

std::vector<std::shared_ptr<temporary_record>> use_table::take_dropped() {
  std::map<std::uint64_t, std::shared_ptr<temporary_record>> in_order; // by their last use
  const std::lock_guard lock(guard_);
  for (auto at = entries_.begin(); at != entries_.end();) {
    const auto each = at++;
    auto& its = each->second;
    if (!its.temporary || !its.closed || !its.idle()) continue;
    in_order.emplace(its.last_used, std::move(its.temporary));
    entries_.erase(each);
  }
  std::vector<std::shared_ptr<temporary_record>> taken;
  for (auto& [use, one] : in_order) taken.push_back(std::move(one));
  return taken;
}

std::shared_ptr<temporary_record> use_table::release_one(std::uint32_t device,
                                                         std::uint64_t owner) {
  const std::lock_guard lock(guard_);
  entry* least = nullptr;
  for (auto& [base, each] : entries_) {
    if (!each.is_of(device, owner) || !each.idle()) continue;
    if (least == nullptr || each.last_used < least->last_used) least = &each;
  }
  if (least == nullptr) return nullptr;
  least->vacated = true;
  return least->temporary;
}

std::uint64_t use_table::releasable_bytes(std::uint32_t device, std::uint64_t owner) const {
  const std::lock_guard lock(guard_);
  std::uint64_t sum = 0;
  for (const auto& [base, each] : entries_) {
    if (each.is_of(device, owner) && each.idle()) sum += each.bytes;
  }
  return sum;
}

bool use_table::entry::is_of(std::uint32_t device, std::uint64_t owner) const {
  return temporary && !vacated && temporary->device().index() == device &&
         (owner == 0 || temporary->owner() == owner);
}

bool use_table::renew(const temporary_record& one) {
  const std::lock_guard lock(guard_);
  const auto found = entries_.find(one.data());
  if (found == entries_.end() || !found->second.vacated) return false;
  found->second.vacated = false;
  found->second.last_used = ++last_use_;
  return true;
}

// -- uses ---------------------------------------------------------------------

status use_table::uses::begin(const machine& home, const command& c) {
  if ((home.memory_looks() & machine::memory_look::counted) == 0) return {};
  struct look {
    use_table& table;
    const command& c;
    std::vector<const std::byte*>& bases;
    status failed;
  } seen{home.uses(), c, bases_, {}};
  table_ = &seen.table;
  const auto take = [](void* self, const access_range& range) {
    auto& to = *static_cast<look*>(self);
    if (range.bytes == 0 || !to.failed.ok()) return;
    const auto found = to.table.find(range.base);
    if (found == to.table.entries_.end()) return;
    auto& its = found->second;
    if (its.vacated) {
      to.failed = was_released(to.c, *its.temporary);
      return;
    }
    const bool known = std::find(to.bases.begin(), to.bases.end(), found->first) != to.bases.end();
    if (its.closed || known) return;
    ++its.pins;
    its.last_used = ++to.table.last_use_;
    to.bases.push_back(found->first);
  };
  const std::lock_guard lock(seen.table.guard_);
  if (c.op != nullptr && c.op->ranges != nullptr) c.op->ranges(c.payload(), {take, &seen});
  return seen.failed;
}

void use_table::uses::accepted(const ticket& as) {
  if (bases_.empty()) return;
  const std::lock_guard lock(table_->guard_);
  for (const auto* base : bases_) {
    const auto found = table_->entries_.find(base);
    if (found == table_->entries_.end()) continue; // registered no more: a mistake of the program's
    auto& pending = found->second.pending;
    std::erase_if(pending, [](const ticket& each) { return each.ended(); });
    const auto known = std::find_if(pending.begin(), pending.end(), [&as](const ticket& each) {
      return each.line == as.line;
    });
    if (known == pending.end()) {
      pending.push_back(as);
    } else {
      known->number = std::max(known->number, as.number);
    }
  }
}

use_table::uses::~uses() {
  if (bases_.empty()) return;
  const std::lock_guard lock(table_->guard_);
  for (const auto* base : bases_) {
    const auto found = table_->entries_.find(base);
    if (found != table_->entries_.end()) --found->second.pins;
  }
}

} // namespace troupe
