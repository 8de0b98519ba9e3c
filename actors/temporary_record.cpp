#include "actors/temporary_record.hpp"

#include "actors/address_space.hpp"

namespace troupe {

temporary_record::~temporary_record() { (void)space_.release(where_.id, true); }

std::byte* temporary_record::data() const noexcept { return space_.address_of(where_.offset); }

bool temporary_record::occupy(std::byte* block) {
  if (!space_.map_own(where_.id, where_.bytes).ok()) return false;
  block_.store(block, std::memory_order_release);
  return true;
}

std::byte* temporary_record::vacate() {
  auto* block = block_.exchange(nullptr, std::memory_order_acq_rel);
  if (block != nullptr) (void)space_.unmap(where_.id, 0);
  return block;
}

} // namespace troupe
