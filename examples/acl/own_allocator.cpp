// A program's own allocator of device memory, made known to the library for a stream: the program
// and whatever works for it on that stream take memory from one place. Here it cuts one block of the
// device into pieces.
#include <cstddef>
#include <cstdio>
#include <map>

#include <acl/acl_rt_allocator.h>

#include "check.h"

namespace {

// One thread at a time.
class slab {
 public:
  explicit slab(std::size_t bytes) : bytes_(bytes) {
    CHECK(aclrtMalloc(&memory_, bytes, ACL_MEM_MALLOC_HUGE_FIRST));
  }
  ~slab() { CHECK(aclrtFree(memory_)); }
  slab(const slab&) = delete;
  slab& operator=(const slab&) = delete;

  // The first gap that is large enough; null for none.
  void* take(std::size_t bytes) {
    const std::size_t wanted = (bytes + 63) / 64 * 64;
    std::size_t from = 0;
    for (const auto& each : used_) {
      if (each.first - from >= wanted) break;
      from = each.first + each.second;
    }
    if (bytes_ - from < wanted) return nullptr;
    used_[from] = wanted;
    return static_cast<char*>(memory_) + from;
  }
  void give(void* piece) {
    used_.erase(static_cast<std::size_t>(static_cast<char*>(piece) - static_cast<char*>(memory_)));
  }
  std::size_t pieces() const { return used_.size(); }

 private:
  void* memory_ = nullptr;
  std::size_t bytes_;
  std::map<std::size_t, std::size_t> used_; // bytes by offset
};

// What the library would call: a block is a piece, and its address is itself.
void* take(aclrtAllocator object, std::size_t bytes) {
  return static_cast<slab*>(object)->take(bytes);
}
void* take_at(aclrtAllocator object, std::size_t bytes, aclrtAllocatorAddr) {
  return take(object, bytes);
}
void give(aclrtAllocator object, aclrtAllocatorBlock block) {
  static_cast<slab*>(object)->give(block);
}
void* address_of(aclrtAllocatorBlock block) { return block; }

} // namespace

int main() {
  aclrtStream stream = nullptr;
  CHECK(aclrtSetDevice(0));
  CHECK(aclrtCreateStream(&stream));
  int right = 0;
  {
    slab memory(1 << 20);
    aclrtAllocatorDesc what = aclrtAllocatorCreateDesc();
    CHECK(aclrtAllocatorSetObjToDesc(what, &memory));
    CHECK(aclrtAllocatorSetAllocFuncToDesc(what, &take));
    CHECK(aclrtAllocatorSetFreeFuncToDesc(what, &give));
    CHECK(aclrtAllocatorSetAllocAdviseFuncToDesc(what, &take_at));
    CHECK(aclrtAllocatorSetGetAddrFromBlockFuncToDesc(what, &address_of));
    CHECK(aclrtAllocatorRegister(stream, what));
    CHECK(aclrtAllocatorDestroyDesc(what)); // the registration has all of it

    void* pieces[4];
    for (int i = 0; i < 4; ++i) {
      pieces[i] = memory.take(1000);
      if (pieces[i] == nullptr) return 1;
      CHECK(aclrtMemsetAsync(pieces[i], 1000, i + 1, 1000, stream));
    }
    CHECK(aclrtSynchronizeStream(stream));
    for (int i = 0; i < 4; ++i) {
      char last = 0;
      CHECK(aclrtMemcpy(&last, 1, static_cast<char*>(pieces[i]) + 999, 1,
                        ACL_MEMCPY_DEVICE_TO_HOST));
      right += last == i + 1;
      memory.give(pieces[i]);
    }
    CHECK(aclrtAllocatorUnregister(stream));
    if (memory.pieces() != 0) return 1;
  }
  std::printf("%d of 4 pieces of one block hold what was written to them\n", right);
  CHECK(aclrtDestroyStream(stream));
  CHECK(aclrtResetDevice(0));
  return right == 4 ? 0 : 1;
}
