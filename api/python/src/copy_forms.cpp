#include "api/python/src/copy_forms.hpp"

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "api/python/src/captures.hpp"
#include "api/python/src/device_array.hpp"
#include "api/python/src/host_range.hpp"
#include "api/python/src/lanes.hpp"
#include "api/python/src/stream_handle.hpp"
#include "troupe/copy_conversion.hpp"
#include "troupe/copy_rows.hpp"

namespace troupe::python {
namespace {

/// One side of a copy: a device array, or host memory.
struct side {
  std::byte* data = nullptr;
  std::size_t bytes = 0;
  py::object kept;
  std::vector<memory_access> uses; // none for host memory
};

side side_of(const py::object& given, bool writes) {
  side made;
  if (!py::isinstance<device_array>(given)) {
    auto host = writes ? writable(given) : readable(given);
    made.data = host.data;
    made.bytes = host.bytes;
    made.kept = std::move(host.owner);
    return made;
  }
  const auto& array = given.cast<const device_array&>();
  if (writes && !array.writable()) refuse("the target array is read-only");
  made.data = array.data();
  made.bytes = array.bytes();
  made.kept = given;
  made.uses.push_back({array.memory(), writes});
  return made;
}

// Runs a copy on the named stream, or without one now, after the work that it depends on.
void run(const side& target, const side& source, const py::object& given,
         const std::function<status(stream&)>& on_stream,
         const std::function<status(const context&)>& here) {
  auto uses = target.uses;
  uses.insert(uses.end(), source.uses.begin(), source.uses.end());
  if (uses.empty()) refuse("a copy from host to host");
  if (given.is_none()) {
    const auto& home = uses.front().of->home();
    wait_for_uses(uses);
    return check(without_gil([&] { return here(home->home()); }));
  }
  const auto on = to_work_stream(given);
  on->let_go_ended();
  for (const auto& each : uses) each.of->used_on(on->on());
  order_after_calls(*on);
  on->submit([&] { return on_stream(on->on()); });
  auto kept = py::make_tuple(target.kept, source.kept);
  keep_for_capture(on->on(), kept);
  on->keep(std::move(kept));
}

std::size_t to_bytes(const py::object& given, const char* what) {
  return static_cast<std::size_t>(to_count(given, what));
}

void expect_rows(const side& in, std::size_t pitch, const copy_2d_request& rows, const char* what) {
  const auto behind = rows.height - 1;
  const bool fits = rows.width <= in.bytes && rows.width <= pitch &&
                    (behind == 0 || pitch <= (in.bytes - rows.width) / behind);
  if (fits) return;
  refuse("rows of " + std::to_string(rows.width) + " bytes every " + std::to_string(pitch) + ", " +
         std::to_string(rows.height) + " of them, do not fit the " + what + " of " +
         std::to_string(in.bytes) + " bytes");
}

void copy_2d(const py::object& to, const py::object& to_pitch, const py::object& from,
             const py::object& from_pitch, const py::object& width, const py::object& height,
             const py::object& stream) {
  const auto target = side_of(to, true);
  const auto source = side_of(from, false);
  copy_2d_request request;
  request.target = target.data;
  request.target_pitch = to_bytes(to_pitch, "dst_pitch");
  request.source = source.data;
  request.source_pitch = to_bytes(from_pitch, "src_pitch");
  request.width = to_bytes(width, "width");
  request.height = to_bytes(height, "height");
  if (request.width == 0 || request.height == 0) return;
  expect_rows(target, request.target_pitch, request, "target");
  expect_rows(source, request.source_pitch, request, "source");
  run(
      target, source, stream, [&](troupe::stream& on) { return on.copy_2d(request); },
      [&](const context& home) { return home.copy_2d(request); });
}

number_type number_type_of(const py::object& given, const char* which) {
  if (!py::hasattr(given, "dtype")) refuse_type(which, "an array", given);
  const auto name = py::str(given.attr("dtype")).cast<std::string>();
  if (name == "float32") return number_type::f32;
  if (name == "float16") return number_type::f16;
  if (name == "int8") return number_type::i8;
  refuse(std::string(which) + " is of " + name +
         "; conversions are between float32 and float16 or int8");
}

void convert_copy(const py::object& to, const py::object& from, const py::object& scale,
                  const py::object& stream) {
  const auto target = side_of(to, true);
  const auto source = side_of(from, false);
  convert_request request;
  request.how = {number_type_of(from, "src"), number_type_of(to, "dst"),
                 static_cast<float>(to_number(scale, "scale"))};
  request.target = target.data;
  request.target_bytes = target.bytes;
  request.source = source.data;
  request.count = source.bytes / size_of(request.how.from);
  const auto needed = request.count * size_of(request.how.to);
  if (needed > target.bytes) {
    refuse(std::to_string(request.count) + " elements take " + std::to_string(needed) +
           " bytes; the target has " + std::to_string(target.bytes));
  }
  if (request.count == 0) return;
  run(
      target, source, stream, [&](troupe::stream& on) { return on.convert_raw(request); },
      [&](const context& home) { return home.convert_raw(request); });
}

// The value as an element of the array, in bytes that live as long as `kept`.
fill_2d_request fill_of(const device_array& target, const py::object& value, py::object& kept) {
  const auto numpy = py::module_::import("numpy");
  kept = numpy.attr("asarray")(value, target.type());
  if (kept.attr("ndim").cast<int>() != 0) refuse("a fill takes one value");
  const auto size = static_cast<std::size_t>(target.type().itemsize());
  if (!fill_pattern::fits(size)) {
    refuse("a fill takes elements of 1, 2, 4 or 8 bytes, not " + std::to_string(size));
  }
  const auto bytes = kept.cast<py::array>();
  fill_2d_request made;
  made.target = target.data();
  made.width = made.pitch = target.bytes();
  made.height = 1;
  made.value = fill_pattern({static_cast<const std::byte*>(bytes.data()), size});
  return made;
}

void fill(const device_array& target, const py::object& value, const py::object& given) {
  if (!target.writable()) refuse("the array is read-only");
  py::object kept;
  const auto request = fill_of(target, value, kept);
  const auto& memory = target.memory();
  if (target.bytes() == 0) return;
  const auto submit = [&](stream& on) { return on.fill_2d(request); };
  if (given.is_none()) {
    return submit_on_lane(memory->home(), lane::compute, {{memory, true}}, submit, py::none());
  }
  const auto on = to_work_stream(given);
  memory->used_on(on->on());
  order_after_calls(*on);
  on->submit([&] { return submit(on->on()); });
  keep_for_capture(on->on(), py::cast(target));
  on->keep(py::cast(target));
}

device_array full(const py::object& shape, const py::object& value, const py::object& type,
                  const py::object& where) {
  auto made = device_array::allocate(to_place(where), to_dtype(type), to_shape(shape), false);
  fill(made, value, py::none());
  return made;
}

} // namespace

void bind_copy_forms(py::module_& m) {
  m.def(
        "fill",
        [](const py::object& array, const py::object& value, const py::object& stream) {
          fill(to<const device_array>(array, "array", "a DeviceArray"), value, stream);
        },
        py::arg("array"), py::arg("value"), py::arg("stream") = py::none(),
        "Sets all elements of a device array, of 1, 2, 4 or 8 bytes, to a value.");
  m.def("full", &full, py::arg("shape"), py::arg("value"), py::arg("dtype") = "float32",
        py::arg("device") = py::none(), "A device array of equal elements.");
  m.def("memcpy_2d", &copy_2d, py::arg("dst"), py::arg("dst_pitch"), py::arg("src"),
        py::arg("src_pitch"), py::arg("width"), py::arg("height"), py::arg("stream") = py::none(),
        "Copies height rows of width bytes, which begin pitch bytes apart; either side, or both, "
        "on a device. On a stream it returns at once unless the host side is ordinary memory: "
        "then when it has ended.");
  m.def("memcpy_convert", &convert_copy, py::arg("dst"), py::arg("src"), py::arg("scale") = 1.0,
        py::arg("stream") = py::none(),
        "Copies all of src and converts the elements on the way: float32 to or from float16, "
        "rounded to the nearest, or int8, which is value / scale, rounded and cut to its range. "
        "On a stream as memcpy_2d.");
}

} // namespace troupe::python
