#include "tests/bench/peers/opencl.hpp"

#include "tests/bench/contender.hpp"

#include <fmt/format.h>

#include <array>
#include <string>
#include <vector>

namespace troupe::bench {

namespace {

bool is_pocl(cl_platform_id platform) {
  std::array<char, 256> name{};
  cl_check(clGetPlatformInfo(platform, CL_PLATFORM_NAME, name.size() - 1, name.data(), nullptr),
           "clGetPlatformInfo");
  return std::string_view{name.data()} == "Portable Computing Language";
}

cl_platform_id pocl_platform() {
  cl_uint count = 0;
  // Without any platform the loader returns an error of its own instead of success and zero.
  if (clGetPlatformIDs(0, nullptr, &count) != CL_SUCCESS || count == 0)
    throw unavailable("no OpenCL platform");
  std::vector<cl_platform_id> platforms(count);
  cl_check(clGetPlatformIDs(count, platforms.data(), nullptr), "clGetPlatformIDs");
  for (auto* platform : platforms)
    if (is_pocl(platform))
      return platform;
  throw unavailable("no OpenCL platform is PoCL");
}

cl_device_id first_device(cl_platform_id platform) {
  cl_device_id device = nullptr;
  cl_uint count = 0;
  if (clGetDeviceIDs(platform, CL_DEVICE_TYPE_CPU, 1, &device, &count) != CL_SUCCESS || count == 0)
    throw unavailable("PoCL has no processor device");
  return device;
}

}  // namespace

void cl_check(cl_int code, std::string_view call) {
  if (code != CL_SUCCESS)
    throw std::runtime_error(fmt::format("{} failed with code {}", call, code));
}

opencl_device::opencl_device() : device_(first_device(pocl_platform())) {
  cl_int code = CL_SUCCESS;
  context_.reset(clCreateContext(nullptr, 1, &device_, nullptr, nullptr, &code));
  cl_check(code, "clCreateContext");
  const char* source = "__kernel void nop(void) {}";
  program_.reset(clCreateProgramWithSource(context_.get(), 1, &source, nullptr, &code));
  cl_check(code, "clCreateProgramWithSource");
  cl_check(clBuildProgram(program_.get(), 1, &device_, "", nullptr, nullptr), "clBuildProgram");
  nop_.reset(clCreateKernel(program_.get(), "nop", &code));
  cl_check(code, "clCreateKernel");
}

cl_owned_queue opencl_device::make_queue() const {
  cl_int code = CL_SUCCESS;
  cl_owned_queue queue(clCreateCommandQueue(context_.get(), device_, 0, &code));
  cl_check(code, "clCreateCommandQueue");
  return queue;
}

cl_owned_buffer opencl_device::make_buffer(std::size_t bytes) const {
  cl_int code = CL_SUCCESS;
  cl_owned_buffer buffer(
    clCreateBuffer(context_.get(), CL_MEM_READ_WRITE, bytes, nullptr, &code));
  cl_check(code, "clCreateBuffer");
  return buffer;
}

cl_owned_event opencl_device::make_user_event() const {
  cl_int code = CL_SUCCESS;
  cl_owned_event event(clCreateUserEvent(context_.get(), &code));
  cl_check(code, "clCreateUserEvent");
  return event;
}

void opencl_device::launch(const cl_owned_queue& queue) const {
  const std::size_t one = 1;
  cl_check(clEnqueueNDRangeKernel(queue.get(), nop_.get(), 1, nullptr, &one, &one, 0, nullptr,
                                  nullptr),
           "clEnqueueNDRangeKernel");
}

cl_owned_event opencl_device::launch_recorded(const cl_owned_queue& queue) const {
  const std::size_t one = 1;
  cl_event event = nullptr;
  cl_check(clEnqueueNDRangeKernel(queue.get(), nop_.get(), 1, nullptr, &one, &one, 0, nullptr,
                                  &event),
           "clEnqueueNDRangeKernel");
  return cl_owned_event(event);
}

void opencl_device::launch_after(const cl_owned_queue& queue, const cl_owned_event& event) const {
  const std::size_t one = 1;
  cl_event awaited = event.get();
  cl_check(clEnqueueNDRangeKernel(queue.get(), nop_.get(), 1, nullptr, &one, &one, 1, &awaited,
                                  nullptr),
           "clEnqueueNDRangeKernel");
}

}  // namespace troupe::bench
