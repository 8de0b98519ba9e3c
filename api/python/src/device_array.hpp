#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <pybind11/numpy.h>

#include "api/python/src/storage.hpp"

namespace troupe::python {

/// An array in device memory, `runtime.DeviceArray`: a dtype and a shape, contiguous in C's order,
/// over a part of a storage. Several may share one. Called with the GIL.
class device_array {
public:
  device_array(std::shared_ptr<storage> over, std::size_t offset, py::dtype type,
               std::vector<py::ssize_t> shape);

  /// A fresh one; by option enableMemoryReuse of the pool of `home`. Raises 207001, 207018, 100000.
  [[nodiscard]] static device_array allocate(const std::shared_ptr<place>& home, py::dtype type,
                                             std::vector<py::ssize_t> shape, bool cleared);

  /// What it lies in; raises 107000 when it was freed.
  [[nodiscard]] const std::shared_ptr<storage>& memory() const;

  [[nodiscard]] std::byte* data() const { return memory()->data() + offset_; }
  [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }
  [[nodiscard]] const py::dtype& type() const noexcept { return type_; }
  [[nodiscard]] const std::vector<py::ssize_t>& shape() const noexcept { return shape_; }
  [[nodiscard]] bool writable() const noexcept { return writable_; }
  [[nodiscard]] bool freed() const noexcept { return over_ == nullptr; }
  [[nodiscard]] py::ssize_t elements() const noexcept;

  /// Lets the memory go; what still views it keeps it. Raises 107000 the second time.
  void free();

  [[nodiscard]] device_array reshaped(std::vector<py::ssize_t> shape) const;
  [[nodiscard]] device_array viewed_as(py::dtype type) const;
  [[nodiscard]] device_array read_only() const;

  /// Part `index` of the leading dimension: one row, or those of a slice.
  [[nodiscard]] device_array part(const py::object& index) const;

  /// A numpy array over the device memory itself, which keeps it. What looks at it while work on
  /// the memory is under way sees that half done.
  [[nodiscard]] py::array host_view() const;

  /// Waits for what calls without a stream have to do with the memory.
  void wait() const;

  [[nodiscard]] std::string repr() const;

private:
  std::shared_ptr<storage> over_;
  std::size_t offset_;
  py::dtype type_;
  std::vector<py::ssize_t> shape_;
  std::size_t bytes_;
  bool writable_ = true;
};

/// The dtype that `given` means, of which arrays on a device can be made; raises 107000.
[[nodiscard]] py::dtype to_dtype(const py::object& given);

/// A shape from a number or a sequence of numbers; raises 107000 for a negative one.
[[nodiscard]] std::vector<py::ssize_t> to_shape(const py::object& given);

/// The bytes of such an array; raises 107000 for more than there can be.
[[nodiscard]] std::size_t bytes_of(const std::vector<py::ssize_t>& shape, const py::dtype& type);

void bind_arrays(py::module_& m);

} // namespace troupe::python
