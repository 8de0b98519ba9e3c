#include "api/python/src/device_array.hpp"

#include "api/python/src/interruption.hpp"
#include "api/python/src/lanes.hpp"
#include "api/python/src/options.hpp"

namespace troupe::python {
namespace {

py::ssize_t product(const std::vector<py::ssize_t>& shape) {
  py::ssize_t made = 1;
  for (const auto each : shape) made *= each;
  return made;
}

std::string text_of(const std::vector<py::ssize_t>& shape) {
  std::string made = "(";
  for (const auto each : shape) made += std::to_string(each) + (shape.size() == 1 ? "," : ", ");
  if (shape.size() > 1) made.resize(made.size() - 2);
  return made + ")";
}

std::string text_of(const py::dtype& type) {
  return py::str(static_cast<const py::object&>(type)).cast<std::string>();
}

// A block of the pool behind option enableMemoryReuse, as its former life left it.
std::shared_ptr<storage> take_pooled(const std::shared_ptr<place>& home, std::size_t bytes) {
  const auto user = lanes_of(home).at(lane::compute);
  const auto& from = home->reuse();
  auto got = take(without_gil([&] { return from.allocate<std::byte>(user->on(), bytes); }));
  auto made = std::make_shared<storage>(home, std::move(got));
  mark_fresh(*made, *user);
  return made;
}

std::shared_ptr<storage> take_fresh(const std::shared_ptr<place>& home, std::size_t bytes,
                                    initial contents) {
  auto got = without_gil([&] { return home->home().allocate<std::byte>(bytes, contents); });
  return std::make_shared<storage>(home, take(std::move(got)));
}

// Whether arrays of that dtype can be views of memory: numpy exports no dates and times.
bool has_buffer_format(const py::dtype& type) {
  if (type.kind() == 'M' || type.kind() == 'm') return false;
  if (!type.has_fields()) return true;
  const auto probe = py::array(type, std::vector<py::ssize_t>{0});
  const auto view = py::reinterpret_steal<py::object>(PyMemoryView_FromObject(probe.ptr()));
  if (!view) PyErr_Clear();
  return static_cast<bool>(view);
}

} // namespace

device_array::device_array(std::shared_ptr<storage> over, std::size_t offset, py::dtype type,
                           std::vector<py::ssize_t> shape)
    : over_(std::move(over)),
      offset_(offset),
      type_(std::move(type)),
      shape_(std::move(shape)),
      bytes_(bytes_of(shape_, type_)) {}

device_array device_array::allocate(const std::shared_ptr<place>& home, py::dtype type,
                                    std::vector<py::ssize_t> shape, bool cleared) {
  const auto bytes = bytes_of(shape, type);
  bury_objects();
  const bool pooled = option(name_of_option::memory_reuse);
  const auto room = std::max<std::size_t>(bytes, 1);
  const auto contents = cleared ? initial::cleared : initial::unspecified;
  device_array made(pooled ? take_pooled(home, room) : take_fresh(home, room, contents), 0,
                    std::move(type), std::move(shape));
  if (pooled && cleared && bytes != 0) fill_on_lane(made, 0);
  return made;
}

const std::shared_ptr<storage>& device_array::memory() const {
  if (freed()) refuse("the device array was freed");
  return over_;
}

py::ssize_t device_array::elements() const noexcept { return product(shape_); }

void device_array::free() {
  (void)memory();
  over_.reset();
}

device_array device_array::reshaped(std::vector<py::ssize_t> shape) const {
  const auto all = elements();
  py::ssize_t known = 1;
  py::ssize_t* open = nullptr;
  for (auto& each : shape) {
    if (each == -1 && open == nullptr) {
      open = &each;
    } else if (each < 0) {
      refuse("a shape with the length " + std::to_string(each));
    } else {
      known *= each;
    }
  }
  if (open != nullptr) *open = known == 0 ? 0 : all / known;
  auto made = *this;
  (void)bytes_of(shape, type_);
  if (product(shape) != all) {
    refuse("an array of shape " + text_of(shape_) + " cannot have the shape " + text_of(shape));
  }
  made.shape_ = std::move(shape);
  return made;
}

device_array device_array::viewed_as(py::dtype type) const {
  auto made = *this;
  const auto size = static_cast<std::size_t>(type.itemsize());
  const auto row = shape_.empty() ? bytes_
                                  : static_cast<std::size_t>(shape_.back()) *
                                        static_cast<std::size_t>(type_.itemsize());
  if (size == 0 || row % size != 0 || (shape_.empty() && row != size)) {
    refuse("rows of " + std::to_string(row) + " bytes cannot be viewed as elements of " +
           std::to_string(size));
  }
  if (!made.shape_.empty()) made.shape_.back() = static_cast<py::ssize_t>(row / size);
  made.type_ = std::move(type);
  return made;
}

device_array device_array::read_only() const {
  auto made = *this;
  made.writable_ = false;
  return made;
}

device_array device_array::part(const py::object& index) const {
  (void)memory();
  if (shape_.empty()) throw py::index_error("an array of no dimensions has no parts");
  auto made = *this;
  const auto length = shape_.front();
  const auto row = length == 0 ? 0 : bytes_ / static_cast<std::size_t>(length);
  if (py::isinstance<py::slice>(index)) {
    py::ssize_t start = 0, stop = 0, step = 0, count = 0;
    if (!index.cast<py::slice>().compute(length, &start, &stop, &step, &count)) {
      throw py::error_already_set();
    }
    if (step != 1) refuse("a slice of a device array with step " + std::to_string(step));
    made.offset_ += static_cast<std::size_t>(start) * row;
    made.shape_.front() = count;
    made.bytes_ = static_cast<std::size_t>(count) * row;
    return made;
  }
  auto at = to_index(index, "index");
  if (at < -length || at >= length) {
    throw py::index_error("index " + std::to_string(at) + " of " + std::to_string(length));
  }
  if (at < 0) at += length;
  made.offset_ += static_cast<std::size_t>(at) * row;
  made.shape_.erase(made.shape_.begin());
  made.bytes_ = row;
  return made;
}

py::array device_array::host_view() const {
  auto* kept = new std::shared_ptr<storage>(memory());
  const py::capsule base(kept, [](void* p) { delete static_cast<std::shared_ptr<storage>*>(p); });
  py::array made(type_, shape_, data(), base);
  if (!writable_) made.attr("setflags")(py::arg("write") = false);
  return made;
}

void device_array::wait() const {
  const auto marks = memory()->marks();
  for (const auto& each : marks) {
    wait_for(over_->home()->live(), forever, code::event_sync_timeout,
             [&](timeout step) { return each.after.synchronize(step); });
  }
}

std::string device_array::repr() const {
  std::string made = "<runtime.DeviceArray " + text_of(shape_) + " " + text_of(type_);
  if (freed()) return made + ", freed>";
  made += ", " + std::to_string(bytes_) + " bytes on device " +
          std::to_string(over_->home()->on().index());
  return made + (writable_ ? ">" : ", read-only>");
}

py::dtype to_dtype(const py::object& given) {
  auto made = py::dtype::from_args(given);
  if (made.itemsize() == 0 || made.attr("hasobject").cast<bool>()) {
    refuse("elements of dtype " + text_of(made) + " cannot lie in device memory");
  }
  if (!has_buffer_format(made)) {
    refuse("elements of dtype " + text_of(made) +
           " cannot lie in device memory, as the buffer protocol has no such; times are taken as "
           "whole numbers, as x.view('int64')");
  }
  return made;
}

std::vector<py::ssize_t> to_shape(const py::object& given) {
  std::vector<py::ssize_t> made;
  if (PyIndex_Check(given.ptr()) != 0) {
    made.push_back(to_index(given, "shape"));
  } else {
    const auto lengths = py::reinterpret_steal<py::list>(PySequence_List(given.ptr()));
    if (!lengths) {
      PyErr_Clear();
      refuse_type("shape", "a whole number or a sequence of such", given);
    }
    for (const auto& each : lengths) made.push_back(to_index(each, "a length of shape"));
  }
  if (made.size() > 32)
    refuse("a shape of " + std::to_string(made.size()) + " dimensions; 32 is the most");
  return made;
}

std::size_t bytes_of(const std::vector<py::ssize_t>& shape, const py::dtype& type) {
  auto made = static_cast<std::size_t>(type.itemsize());
  for (const auto each : shape) {
    if (each < 0) refuse("a shape with the length " + std::to_string(each));
    std::size_t next = 0;
    if (__builtin_mul_overflow(made, static_cast<std::size_t>(each), &next) || next > PTRDIFF_MAX) {
      refuse("a shape " + text_of(shape) + " of more bytes than there are addresses");
    }
    made = next;
  }
  return made;
}

} // namespace troupe::python
