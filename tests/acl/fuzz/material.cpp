#include "tests/acl/fuzz/material.hpp"

#include <algorithm>
#include <stdexcept>

#include <acl/acl_rt_allocator.h>

namespace {

void check(bool made) {
  if (!made) throw std::runtime_error("a handle could not be made");
}

std::size_t place(role kind) {
  return static_cast<std::size_t>(kind);
}

void fill_live(std::array<void*, handle_roles>& all) {
  check(aclrtGetCurrentContext(&all[place(role::context)]) == ACL_SUCCESS);
  check(aclrtCreateStream(&all[place(role::stream)]) == ACL_SUCCESS);
  check(aclrtCreateEvent(&all[place(role::event)]) == ACL_SUCCESS);
  const auto stream = all[place(role::stream)];
  check(aclmdlRICaptureBegin(stream, ACL_MODEL_RI_CAPTURE_MODE_RELAXED) == ACL_SUCCESS);
  auto capturing = ACL_MODEL_RI_CAPTURE_STATUS_NONE;
  check(aclmdlRICaptureGetInfo(stream, &capturing, &all[place(role::graph)]) == ACL_SUCCESS);
  check(aclmdlRICondHandleCreate(all[place(role::graph)], 0, 0, &all[place(role::condition)]) ==
        ACL_SUCCESS);
  check(aclmdlRICaptureEnd(stream, &all[place(role::graph)]) == ACL_SUCCESS);
  check(aclrtCreateNotify(&all[place(role::notify)], ACL_NOTIFY_DEFAULT) == ACL_SUCCESS);
  check(aclrtBinaryLoadFromFile(TROUPE_ACL_KERNELS, nullptr, &all[place(role::binary)]) ==
        ACL_SUCCESS);
  check(aclrtBinaryGetFunction(all[place(role::binary)], "add", &all[place(role::function)]) ==
        ACL_SUCCESS);
  check(aclrtKernelArgsInit(all[place(role::function)], &all[place(role::arguments)]) ==
        ACL_SUCCESS);
  all[place(role::allocator)] = aclrtAllocatorCreateDesc();
  all[place(role::data_buffer)] = aclCreateDataBuffer(nullptr, 0);
  all[place(role::tensor_desc)] = aclCreateTensorDesc(ACL_FLOAT, 0, nullptr, ACL_FORMAT_ND);
  all[place(role::dataset)] = aclmdlCreateDataset();
}

// All but the context, which is the thread's.
void destroy(const std::array<void*, handle_roles>& all) {
  (void)aclmdlRIDestroy(all[place(role::graph)]);
  (void)aclrtDestroyStream(all[place(role::stream)]);
  (void)aclrtDestroyNotify(all[place(role::notify)]);
  (void)aclrtDestroyEvent(all[place(role::event)]);
  (void)aclrtKernelArgsFinalize(all[place(role::arguments)]);
  (void)aclrtBinaryUnLoad(all[place(role::binary)]);
  (void)aclrtAllocatorDestroyDesc(all[place(role::allocator)]);
  (void)aclDestroyDataBuffer(static_cast<aclDataBuffer*>(all[place(role::data_buffer)]));
  aclDestroyTensorDesc(static_cast<aclTensorDesc*>(all[place(role::tensor_desc)]));
  (void)aclmdlDestroyDataset(static_cast<aclmdlDataset*>(all[place(role::dataset)]));
}

}  // namespace

material::material(std::uint64_t seed) : state_(seed) {
  addresses_ = {nullptr, scratch_.data()};
  aclrtContext current = nullptr;
  if (aclrtGetCurrentContext(&current) != ACL_SUCCESS) return;  // before the beginning, or after
  make_stale();
  fill_live(live_);
  check(aclrtMalloc(&block_, 128, ACL_MEM_MALLOC_HUGE_FIRST) == ACL_SUCCESS);
  void* freed = nullptr;
  check(aclrtMalloc(&freed, 128, ACL_MEM_MALLOC_HUGE_FIRST) == ACL_SUCCESS);
  check(aclrtFree(freed) == ACL_SUCCESS);
  addresses_.push_back(static_cast<char*>(block_) + 4);
  addresses_.push_back(freed);
}

material::~material() {
  (void)aclrtHostUnregister(scratch_.data());
  if (block_ == nullptr) return;
  destroy(live_);
  (void)aclrtFree(block_);
}

void material::make_stale() {
  fill_live(stale_);
  destroy(stale_);
  stale_[place(role::context)] = nullptr;
}

bool material::is_clear() const {
  return std::all_of(scratch_.begin(), scratch_.end(), [](auto each) { return each == 0; });
}

std::uint64_t material::draw() {
  state_ = state_ * 6364136223846793005ULL + 1442695040888963407ULL;
  return state_ >> 33;
}

void* material::handle(role kind) {
  const auto own = live_[place(kind)];
  const auto other = (place(kind) + 1 + draw() % (handle_roles - 1)) % handle_roles;
  switch (draw() % 6) {
    case 0: return nullptr;
    case 1: return scratch_.data();
    case 2: return own != nullptr ? static_cast<char*>(own) + (draw() % 2 == 0 ? 5 : 64) : own;
    case 3: return stale_[place(kind)];
    case 4: return live_[other];
    default: return reinterpret_cast<void*>(~0ULL);
  }
}
