// Arguments of kernels that are put together one by one.

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include <acl/acl.h>

#include "api/acl/src/call.hpp"
#include "api/acl/src/kernel.hpp"
#include "api/acl/src/objects.hpp"

using namespace troupe;
using namespace troupe::acl;

namespace {

// What a handle of arguments stands for. A parameter's handle is its number, from 1.
class arguments_object {
 public:
  result<void*> append(const void* param, std::size_t bytes) {
    const std::lock_guard lock(guard_);
    const auto unit = std::has_single_bit(bytes) && bytes <= 8 ? bytes : std::size_t{8};
    const auto at = (bytes_.size() + unit - 1) / unit * unit;
    if (bytes > args_bytes_max - at) {
      return bad_parameter("aclrtKernelArgsAppend: more than " + std::to_string(args_bytes_max) +
                           " bytes of arguments");
    }
    bytes_.resize(at + bytes);
    std::memcpy(bytes_.data() + at, param, bytes);
    params_.push_back({at, bytes});
    return std::bit_cast<void*>(params_.size());
  }

  status update(const void* handle, const void* param, std::size_t bytes) {
    const std::lock_guard lock(guard_);
    const auto number = std::bit_cast<std::size_t>(handle);
    if (number == 0 || number > params_.size()) return invalid_handle("parameter");
    const auto& known = params_[number - 1];
    if (bytes != known.bytes) {
      return bad_parameter("aclrtKernelArgsParaUpdate: " + std::to_string(bytes) +
                           " bytes for a parameter of " + std::to_string(known.bytes));
    }
    std::memcpy(bytes_.data() + known.at, param, bytes);
    return {};
  }

  [[nodiscard]] std::vector<std::byte> copy() const {
    const std::lock_guard lock(guard_);
    return bytes_;
  }

 private:
  struct place {
    std::size_t at;
    std::size_t bytes;
  };

  mutable std::mutex guard_;
  std::vector<std::byte> bytes_;
  std::vector<place> params_;
};

std::shared_ptr<arguments_object> find_arguments(void* handle) {
  auto found = handle_table::instance().find(handle_kind::arguments, handle);
  if (!found) throw error(invalid_handle("list of arguments"));
  return std::static_pointer_cast<arguments_object>(std::move(found));
}

}  // namespace

// The arguments fit any function: which one is said at the launch.
aclError aclrtKernelArgsInit(aclrtFuncHandle function, aclrtArgsHandle* arguments) {
  return call([&]() -> status {
    if (arguments == nullptr) return bad_argument("aclrtKernelArgsInit: arguments is null");
    if (!handle_table::instance().find(handle_kind::function, function)) {
      return invalid_handle("function");
    }
    *arguments = new_handle(handle_kind::arguments, std::make_shared<arguments_object>());
    return {};
  });
}

aclError aclrtKernelArgsAppend(aclrtArgsHandle arguments, void* param, size_t paramSize,
                               aclrtParamHandle* paramHandle) {
  return call([&]() -> status {
    if (param == nullptr || paramSize == 0 || paramHandle == nullptr) {
      return bad_argument("aclrtKernelArgsAppend: an argument is null or 0");
    }
    const auto made = find_arguments(arguments)->append(param, paramSize);
    if (!made) return made.error();
    *paramHandle = made.value();
    return {};
  });
}

aclError aclrtKernelArgsParaUpdate(aclrtArgsHandle arguments, aclrtParamHandle paramHandle,
                                   void* param, size_t paramSize) {
  return call([&]() -> status {
    if (param == nullptr || paramSize == 0) {
      return bad_argument("aclrtKernelArgsParaUpdate: an argument is null or 0");
    }
    return find_arguments(arguments)->update(paramHandle, param, paramSize);
  });
}

aclError aclrtKernelArgsFinalize(aclrtArgsHandle arguments) {
  return call([&] {
    const auto gone = handle_table::instance().remove(handle_kind::arguments, arguments);
    return gone ? status{} : invalid_handle("list of arguments");
  });
}

aclError aclrtLaunchKernelWithConfig(aclrtFuncHandle function, uint32_t blockCount,
                                     aclrtStream stream, aclrtLaunchKernelCfg* /*config*/,
                                     aclrtArgsHandle arguments, void* reserve) {
  return call([&]() -> status {
    if (reserve != nullptr) return bad_argument("aclrtLaunchKernelWithConfig: reserve is not null");
    const auto args = find_arguments(arguments)->copy();
    return launch_function(function, blockCount, stream, args.data(), args.size());
  });
}
