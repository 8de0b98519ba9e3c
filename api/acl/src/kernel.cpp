#include "api/acl/src/kernel.hpp"

#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include <acl/acl.h>
#include <dlfcn.h>

#include "api/acl/src/call.hpp"
#include "api/acl/src/kernel_image.hpp"
#include "api/acl/src/kernel_limit.hpp"
#include "api/acl/src/objects.hpp"
#include "api/acl/src/overflow.hpp"
#include "core/task.hpp"

using namespace troupe;
using namespace troupe::acl;

namespace {

constexpr std::size_t meeting_place_bytes = 4096;

// Arguments that travel within the command, so that a launch allocates nothing.
struct small_args {
  alignas(std::max_align_t) std::byte bytes[32];

  [[nodiscard]] void* data() noexcept { return bytes; }
};

// Others, in units that are aligned for any argument.
struct large_args {
  std::shared_ptr<std::vector<std::max_align_t>> units;

  [[nodiscard]] void* data() noexcept { return units->data(); }
};

template <class Args>
status launch_with(stream_object& on, const task& what, troupeKernel kernel, Args args) {
  const bool watched = on.watches_overflow.load(std::memory_order_relaxed);
  if (!watched && kernel_limit() == never_ns) [[likely]] {
    return on.stream.launch(what, [kernel, args = std::move(args)](block b) mutable {
      kernel(b.index, b.count, args.data());
    });
  }
  auto seen = watched ? on.overflowed : nullptr;
  auto limit = watch_kernel(on.stream, what.name);
  return on.stream.launch(what, [kernel, args = std::move(args), seen = std::move(seen),
                                 limit = std::move(limit)](block b) mutable {
    const kernel_watch::block_scope within(limit);
    const auto run = [&] { kernel(b.index, b.count, args.data()); };
    if (seen) {
      watch_overflow(*seen, run);
    } else {
      run();
    }
  });
}

// A shared object with kernels. It stays loaded until the process ends: work in flight may run its
// code, and a launch that held on to it would cost as much again. Its functions' handles end with it.
class binary_object {
 public:
  explicit binary_object(void* library) noexcept : library_(library) {}
  ~binary_object() {
    auto& table = handle_table::instance();
    for (const auto& [name, handle] : functions_) (void)table.remove(handle_kind::function, handle);
  }
  binary_object(const binary_object&) = delete;
  binary_object& operator=(const binary_object&) = delete;

  // The handle of one, the same each time.
  result<void*> function(const char* name) {
    const std::lock_guard lock(guard_);
    if (const auto known = functions_.find(name); known != functions_.end()) return known->second;
    auto* const found = ::dlsym(library_, name);
    if (found == nullptr) {
      return make_status(code::kernel_lookup, "the binary has no kernel '" + std::string(name) + "'");
    }
    auto made = std::make_shared<function_object>(
        function_object{reinterpret_cast<troupeKernel>(found), intern_name(name)});
    auto* const handle = new_handle(handle_kind::function, std::move(made));
    functions_.emplace(name, handle);
    return handle;
  }

 private:
  void* const library_;
  std::mutex guard_;
  std::map<std::string, void*, std::less<>> functions_;
};

status keep(const result<void*>& library, aclrtBinHandle* binary) {
  if (!library) return library.error();
  *binary = new_handle(handle_kind::binary, std::make_shared<binary_object>(library.value()));
  return {};
}

}  // namespace

status troupe::acl::launch_kernel(stream_object& on, const char* name, troupeKernel kernel,
                                  std::uint32_t blocks, const void* args, std::size_t bytes) {
  if (bytes > args_bytes_max) {
    return bad_parameter("kernel '" + std::string(name) + "': " + std::to_string(bytes) +
                         " bytes of arguments; the most is " + std::to_string(args_bytes_max));
  }
  task what("kernel", blocks);
  what.name = name;
  if (bytes <= sizeof(small_args)) {
    small_args copy;
    if (bytes != 0) std::memcpy(copy.bytes, args, bytes);
    return launch_with(on, what, kernel, copy);
  }
  large_args copy{
      std::make_shared<std::vector<std::max_align_t>>(bytes / sizeof(std::max_align_t) + 1)};
  std::memcpy(copy.data(), args, bytes);
  return launch_with(on, what, kernel, std::move(copy));
}

status troupe::acl::launch_function(void* function, std::uint32_t blocks, void* stream,
                                    const void* args, std::size_t bytes) {
  auto* const found = handle_table::instance().look(handle_kind::function, function);
  if (found == nullptr) return invalid_handle("function");
  const auto& what = *static_cast<function_object*>(found);
  return launch_kernel(stream_object_for_work(stream), what.name, what.kernel, blocks, args, bytes);
}

aclError aclrtBinaryLoadFromFile(const char* path, aclrtBinaryLoadOptions* /*options*/,
                                 aclrtBinHandle* binary) {
  return call([&]() -> status {
    if (path == nullptr || binary == nullptr) {
      return bad_argument("aclrtBinaryLoadFromFile: path or binary is null");
    }
    return keep(load_file(path), binary);
  });
}

aclError aclrtBinaryLoadFromData(const void* data, size_t length,
                                 const aclrtBinaryLoadOptions* /*options*/,
                                 aclrtBinHandle* binary) {
  return call([&]() -> status {
    if (data == nullptr || length == 0 || binary == nullptr) {
      return bad_argument("aclrtBinaryLoadFromData: an argument is null, or there are no bytes");
    }
    return keep(load_image(data, length), binary);
  });
}

aclError aclrtBinaryUnLoad(aclrtBinHandle binary) {
  return call([&] {
    const auto gone = handle_table::instance().remove(handle_kind::binary, binary);
    return gone ? status{} : invalid_handle("binary");
  });
}

aclError aclrtBinaryGetFunction(aclrtBinHandle binary, const char* name,
                                aclrtFuncHandle* function) {
  return call([&]() -> status {
    if (name == nullptr || function == nullptr) {
      return bad_argument("aclrtBinaryGetFunction: name or function is null");
    }
    const auto from = std::static_pointer_cast<binary_object>(
        handle_table::instance().find(handle_kind::binary, binary));
    if (!from) return invalid_handle("binary");
    const auto found = from->function(name);
    if (!found) return found.error();
    *function = found.value();
    return {};
  });
}

aclError aclrtLaunchKernelWithHostArgs(aclrtFuncHandle function, uint32_t blockCount,
                                       aclrtStream stream, aclrtLaunchKernelCfg* /*config*/,
                                       void* hostArgs, size_t argsSize, void* placeHolders,
                                       size_t placeHolderCount) {
  return call([&]() -> status {
    if (placeHolders != nullptr || placeHolderCount != 0) {
      return unsupported("aclrtLaunchKernelWithHostArgs", "place holders among the arguments");
    }
    if (hostArgs == nullptr && argsSize != 0) {
      return bad_argument("aclrtLaunchKernelWithHostArgs: hostArgs is null");
    }
    return launch_function(function, blockCount, stream, hostArgs, argsSize);
  });
}

aclError aclrtGetHardwareSyncAddr(void** addr) {
  return call([&]() -> status {
    if (addr == nullptr) return bad_argument("aclrtGetHardwareSyncAddr: addr is null");
    const auto whose = current_context();
    const std::lock_guard lock(whose->guard);
    auto& place = whose->meeting_place;
    if (place.size() == 0) {
      auto made = whose->context.allocate<std::byte>(meeting_place_bytes, initial::cleared);
      if (!made) return made.error();
      place = std::move(made).value();
    }
    *addr = place.data();
    return {};
  });
}

aclError aclrtLaunchKernel(aclrtFuncHandle function, uint32_t blockCount, const void* argsData,
                           size_t argsSize, aclrtStream stream) {
  return call([&]() -> status {
    if (argsData == nullptr && argsSize != 0) {
      return bad_argument("aclrtLaunchKernel: argsData is null");
    }
    return launch_function(function, blockCount, stream, argsData, argsSize);
  });
}
