#pragma once

#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

#include <cstddef>
#include <memory>
#include <string_view>
#include <type_traits>

namespace troupe::bench {

/// Throws std::runtime_error with the name of the call unless `code` is success.
void cl_check(cl_int code, std::string_view call);

/// Owns one reference to an OpenCL object.
template <class Handle, cl_int (*Release)(Handle)>
struct cl_release {
  void operator()(Handle handle) const { Release(handle); }
};

template <class Handle, cl_int (*Release)(Handle)>
using cl_owned = std::unique_ptr<std::remove_pointer_t<Handle>, cl_release<Handle, Release>>;

using cl_owned_context = cl_owned<cl_context, clReleaseContext>;
using cl_owned_queue = cl_owned<cl_command_queue, clReleaseCommandQueue>;
using cl_owned_program = cl_owned<cl_program, clReleaseProgram>;
using cl_owned_kernel = cl_owned<cl_kernel, clReleaseKernel>;
using cl_owned_buffer = cl_owned<cl_mem, clReleaseMemObject>;
using cl_owned_event = cl_owned<cl_event, clReleaseEvent>;

/// PoCL's processor device with an empty kernel. Any thread may use it.
class opencl_device {
public:
  /// Throws `unavailable` if there is no PoCL platform.
  opencl_device();

  /// A new in-order queue.
  [[nodiscard]] cl_owned_queue make_queue() const;

  [[nodiscard]] cl_owned_buffer make_buffer(std::size_t bytes) const;

  /// An event that stays incomplete until its status is set.
  [[nodiscard]] cl_owned_event make_user_event() const;

  /// Submits the empty kernel, one work item.
  void launch(const cl_owned_queue& queue) const;

  /// Submits the empty kernel and returns its event.
  [[nodiscard]] cl_owned_event launch_recorded(const cl_owned_queue& queue) const;

  /// Submits the empty kernel to run after `event`.
  void launch_after(const cl_owned_queue& queue, const cl_owned_event& event) const;

private:
  cl_device_id device_ = nullptr;
  cl_owned_context context_;
  cl_owned_program program_;
  cl_owned_kernel nop_;
};

}  // namespace troupe::bench
