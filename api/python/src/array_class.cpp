// `runtime.DeviceArray` and what makes arrays.

#include <array>
#include <utility>

#include <pybind11/stl.h>

#include "api/python/src/captures.hpp"
#include "api/python/src/copying.hpp"
#include "api/python/src/device_array.hpp"
#include "api/python/src/lanes.hpp"
#include "api/python/src/method.hpp"
#include "api/python/src/session.hpp"
#include "api/python/src/stream_handle.hpp"

namespace troupe::python {
namespace {

using array_class = py::class_<device_array>;

// The buffer protocol: what numpy exports of the view, which keeps the memory.
int get_buffer(PyObject* self, Py_buffer* view, int flags) {
  view->obj = nullptr;
  try {
    const auto& array = py::handle(self).cast<const device_array&>();
    array.wait();
    return PyObject_GetBuffer(array.host_view().ptr(), view, flags);
  } catch (py::error_already_set& e) {
    e.restore();
  } catch (const py::builtin_exception& e) {
    e.set_error();
  } catch (const std::exception& e) {
    PyErr_SetString(PyExc_BufferError, e.what());
  }
  return -1;
}

void set_up_type(PyHeapTypeObject* type) {
  type->as_buffer.bf_getbuffer = &get_buffer;
  type->ht_type.tp_as_buffer = &type->as_buffer;
}

py::tuple to_tuple(const std::vector<py::ssize_t>& shape) {
  py::tuple made(shape.size());
  for (std::size_t i = 0; i < shape.size(); ++i) made[i] = shape[i];
  return made;
}

device_array malloc_on(const py::object& where, const py::object& size) {
  const auto bytes = to_index(size, "size");
  if (bytes < 1) {
    check(make_status(code::bad_argument,
                      "size is " + std::to_string(bytes) + "; device_malloc takes 1 or more"));
  }
  return device_array::allocate(to_place(where), py::dtype::of<std::uint8_t>(), {bytes}, false);
}

device_array make_array(const py::object& data, const py::object& where, const py::object& type) {
  const auto numpy = py::module_::import("numpy");
  const auto host = numpy.attr("asarray")(data, type, "C").cast<py::array>();
  const std::vector<py::ssize_t> shape(host.shape(), host.shape() + host.ndim());
  auto made = device_array::allocate(to_place(where), to_dtype(host.dtype()), shape, false);
  copy_to_device(made, host, py::none());
  return made;
}

void fill(const device_array& self, const py::object& value, const py::object& stream) {
  if (!self.writable()) refuse("the array is read-only");
  const auto byte = to_index(value, "value");
  if (byte < 0 || byte > 255) refuse("value is " + std::to_string(byte) + "; a byte, 0 to 255");
  const auto wanted = static_cast<unsigned char>(byte);
  if (self.bytes() == 0) return;
  if (stream.is_none()) return fill_on_lane(self, wanted);
  const auto on = to_work_stream(stream);
  order_after_calls(*on);
  self.memory()->used_on(on->on());
  const device_span<std::byte> span(self.data(), self.bytes(), self.memory()->home()->home().id());
  on->submit([&] { return on->on().fill_bytes(span, wanted); });
  keep_for_capture(on->on(), py::cast(self));
  on->keep(py::cast(self));
}

// What numpy would compute element by element, and Python take for a statement about the object.
[[noreturn]] void refuse_comparison(const char* sign) {
  throw py::type_error(std::string("device arrays are not compared by ") + sign +
                       ": compare copies on the host, as x.numpy() " + sign +
                       " y.numpy(), or with 'is' whether they are one object");
}

bool truth(const device_array& self) {
  if (self.elements() != 1) {
    throw py::value_error("the truth of a device array of " + std::to_string(self.elements()) +
                          " elements is ambiguous: use x.numpy().any(), x.numpy().all() or x.size");
  }
  const int made = PyObject_IsTrue(to_numpy(self).ptr());
  if (made < 0) throw py::error_already_set();
  return made == 1;
}

template <std::size_t... I>
void bind_comparisons(array_class& c, std::index_sequence<I...>) {
  static constexpr std::array<std::pair<const char*, const char*>, 6> all{
      {{"__eq__", "=="}, {"__ne__", "!="}, {"__lt__", "<"},
       {"__le__", "<="}, {"__gt__", ">"}, {"__ge__", ">="}}};
  (c.def(all[I].first,
         [](const device_array&, const py::object&) { refuse_comparison(all[I].second); },
         "Refused with TypeError: copies on the host are compared."),
   ...);
}

void bind_shape(array_class& c) {
  c.def_property_readonly(
       "shape", [](const device_array& a) { return to_tuple(a.shape()); },
       "Lengths of its dimensions.")
      .def_property_readonly("dtype", method(&device_array::type), "Of its elements, as numpy's.")
      .def_property_readonly(
          "ndim", [](const device_array& a) { return a.shape().size(); }, "Dimensions.")
      .def_property_readonly("size", method(&device_array::elements), "Elements.")
      .def_property_readonly("nbytes", method(&device_array::bytes), "Bytes.")
      .def_property_readonly(
          "itemsize", [](const device_array& a) { return a.type().itemsize(); },
          "Bytes of an element.")
      .def_property_readonly("writable", method(&device_array::writable),
                             "False for what read_only gave.")
      .def_property_readonly("freed", method(&device_array::freed), "Whether it was freed.")
      .def_property_readonly(
          "context", [](const device_array& a) { return a.memory()->home(); },
          "That the memory is of.")
      .def_property_readonly(
          "device_index", [](const device_array& a) { return a.memory()->home()->on().index(); },
          "Of the device that the memory is on.")
      .def(
          "reshape",
          [](const device_array& a, const py::args& given) {
            return a.reshaped(
                to_shape(given.size() == 1 ? py::object(given[0]) : py::object(given)));
          },
          "The same memory in another shape, given as numbers or one tuple; one may be -1.")
      .def(
          "view",
          [](const device_array& a, const py::object& t) { return a.viewed_as(to_dtype(t)); },
          py::arg("dtype"), "The same memory as elements of another dtype.")
      .def("read_only", method(&device_array::read_only),
           "The same memory, which kernels then get to read only.")
      .def("__getitem__", method(&device_array::part), py::arg("index"),
           "Part of the leading dimension, by a number or a slice without step: the same memory.")
      .def(
          "__len__",
          [](const device_array& a) {
            if (a.shape().empty()) throw py::type_error("an array of no dimensions has no length");
            return a.shape().front();
          },
          "The length of the leading dimension.")
      .def("__bool__", &truth,
           "Of an array of one element, whose value is copied for it; ValueError for others.")
      .def(
          "__contains__",
          [](const device_array&, const py::object&) {
            throw py::type_error("'in' looks at no device array: look at a copy, as in x.numpy()");
          },
          "Refused with TypeError: copies on the host are looked at.")
      .def("__repr__", method(&device_array::repr));
}

void bind_contents(array_class& c) {
  c.def(
       "copy_from",
       [](const device_array& a, const py::object& source, const py::object& stream) {
         if (!py::isinstance<device_array>(source)) return copy_to_device(a, source, stream);
         copy_on_device(a, source.cast<const device_array&>(), stream);
       },
       py::arg("source"), py::arg("stream") = py::none(),
       "As memcpy_host_to_device, or memcpy_d2d for a device array.")
      .def(
          "copy_to",
          [](const device_array& a, const py::object& target, const py::object& stream) {
            copy_to_host(target, a, stream);
          },
          py::arg("target"), py::arg("stream") = py::none(), "As memcpy_device_to_host.")
      .def("fill_bytes", &fill, py::arg("value"), py::arg("stream") = py::none(),
           "Sets every byte, 0 to 255.")
      .def("numpy", &to_numpy, "A fresh numpy array with the contents.")
      .def("wait", method(&device_array::wait),
           "Waits for what calls without a stream have to do with the memory.")
      .def(
          "host_view",
          [](const device_array& a) {
            a.wait();
            return a.host_view();
          },
          "A numpy array over the device memory itself, without a copy: it keeps the memory, and "
          "shows work in flight half done.")
      .def(
          "__dlpack__",
          [](const device_array& a, const py::object&) {
            a.wait();
            return a.host_view().attr("__dlpack__")();
          },
          py::arg("stream") = py::none(), "The memory itself, as host memory; it is kept.")
      .def(
          "__dlpack_device__", [](const device_array&) { return py::make_tuple(1, 0); },
          "Host memory, as DLPack says it.")
      .def("free", method(&device_array::free), "The same as device_free.")
      .def(
          "__enter__", [](const py::object& self) { return self; }, "The array itself.")
      .def(
          "__exit__",
          [](device_array& self, const py::args&) {
            if (!self.freed()) self.free();
          },
          "As free, unless it was freed before.");
}

// Host memory that devices reach directly, as a numpy array that keeps it.
py::array pinned_empty(const py::object& shape, const py::object& type) {
  const auto wanted = to_shape(shape);
  const auto element = to_dtype(type);
  const auto open = current_session();
  const auto bytes = std::max<std::size_t>(bytes_of(wanted, element), 1);
  auto got = take(without_gil([&] { return open->runtime()->allocate_host<std::byte>(bytes); }));
  auto* kept = new host_buffer<std::byte>(std::move(got));
  const py::capsule base(kept, [](void* p) {
    auto* held = static_cast<host_buffer<std::byte>*>(p);
    let_go(*held);
    delete held;
  });
  return py::array(element, wanted, kept->data(), base);
}

} // namespace

void bind_arrays(py::module_& m) {
  array_class c(
      m, "DeviceArray", py::custom_type_setup(&set_up_type),
      "An array in device memory: dtype and shape, contiguous. Parts, reshaped and other views "
      "share its memory, which goes back with the last of them, or with free. It has the buffer "
      "protocol: numpy.asarray(x) and memoryview(x) are views without a copy, x.numpy() is a "
      "copy.");
  bind_shape(c);
  bind_contents(c);
  bind_comparisons(c, std::make_index_sequence<6>());
  m.def("device_malloc", &malloc_on, py::arg("device"), py::arg("size"),
        "Device memory of size bytes, as a DeviceArray of dtype uint8; not initialised. Raises "
        "207001 or 207018 when there is no room.");
  m.def("device_free",
        [](const py::object& ptr) { to<device_array>(ptr, "ptr", "a DeviceArray").free(); },
        py::arg("ptr"),
        "Frees device memory. Work in flight may still use it: it is kept aside until that has "
        "ended, and so it is for numpy arrays that view it.");
  m.def("array", &make_array, py::arg("data"), py::arg("device") = py::none(),
        py::arg("dtype") = py::none(), "A device array with the contents of anything numpy takes.");
  m.def(
      "empty",
      [](const py::object& shape, const py::object& type, const py::object& where) {
        return device_array::allocate(to_place(where), to_dtype(type), to_shape(shape), false);
      },
      py::arg("shape"), py::arg("dtype") = "float32", py::arg("device") = py::none(),
      "A device array; not initialised.");
  m.def(
      "zeros",
      [](const py::object& shape, const py::object& type, const py::object& where) {
        return device_array::allocate(to_place(where), to_dtype(type), to_shape(shape), true);
      },
      py::arg("shape"), py::arg("dtype") = "float32", py::arg("device") = py::none(),
      "A device array of zeros.");
  m.def("pinned_empty", &pinned_empty, py::arg("shape"), py::arg("dtype") = "float32",
        "A numpy array in pinned host memory, not initialised.");
}

} // namespace troupe::python
