#include "api/python/src/copying.hpp"

#include <vector>

#include "api/python/src/captures.hpp"
#include "api/python/src/host_range.hpp"
#include "api/python/src/lanes.hpp"
#include "api/python/src/options.hpp"
#include "api/python/src/session.hpp"
#include "api/python/src/stream_handle.hpp"

namespace troupe::python {
namespace {

copy_request request_for(copy_kind kind, void* target, std::size_t room, const void* source,
                         std::size_t bytes) {
  copy_request made;
  made.target = target;
  made.target_bytes = room;
  made.source = source;
  made.bytes = bytes;
  made.kind = kind;
  made.held = true;
  return made;
}

void expect_room(std::size_t bytes, std::size_t room, const char* where) {
  if (bytes <= room) return;
  refuse("a copy of " + std::to_string(bytes) + " bytes " + where + " " + std::to_string(room) +
         " bytes");
}

void expect_writable(const device_array& target) {
  if (!target.writable()) refuse("the target array is read-only");
}

// On a stream that was named: order is the caller's business.
void copy_on(const py::object& given, const copy_request& request, py::object kept) {
  const auto on = to_work_stream(given);
  on->let_go_ended();
  order_after_calls(*on);
  on->submit([&] { return on->on().copy_raw(request); });
  keep_for_capture(on->on(), kept);
  on->keep(std::move(kept));
}

const std::shared_ptr<place>& home_of(const device_array& a) { return a.memory()->home(); }

} // namespace

void copy_to_device(const device_array& target, const py::object& source,
                    const py::object& stream) {
  expect_writable(target);
  auto from = readable(source);
  expect_alike(element_type_of(target), target.bytes(), element_type_of(source), from.bytes);
  expect_room(from.bytes, target.bytes(), "to an array of");
  if (from.bytes == 0) return;
  const bool later = stream.is_none() && option(name_of_option::async);
  if (later) from = snapshot(from);
  const auto request =
      request_for(copy_kind::automatic, target.data(), target.bytes(), from.data, from.bytes);
  if (!stream.is_none()) {
    target.memory()->used_on(to_work_stream(stream)->on());
    return copy_on(stream, request, py::make_tuple(from.owner, target));
  }
  const memory_access use{target.memory(), true};
  if (!later) return copy_here(home_of(target), {use}, request);
  submit_on_lane(
      home_of(target), lane::upload, {use},
      [&](troupe::stream& on) { return on.copy_raw(request); }, from.owner);
}

void copy_to_host(const py::object& target, const device_array& source, const py::object& stream) {
  const auto to = writable(target);
  expect_alike(element_type_of(target), to.bytes, element_type_of(source), source.bytes());
  expect_room(to.bytes, source.bytes(), "from an array of");
  if (to.bytes == 0) return;
  const auto request =
      request_for(copy_kind::automatic, to.data, to.bytes, source.data(), to.bytes);
  if (!stream.is_none()) {
    source.memory()->used_on(to_work_stream(stream)->on());
    return copy_on(stream, request, py::make_tuple(to.owner, source));
  }
  copy_here(home_of(source), {{source.memory(), false}}, request);
}

void copy_on_device(const device_array& target, const device_array& source,
                    const py::object& stream) {
  expect_writable(target);
  expect_alike(element_type_of(target), target.bytes(), element_type_of(source), source.bytes());
  expect_room(source.bytes(), target.bytes(), "to an array of");
  if (home_of(target)->runs() != home_of(source)->runs()) {
    refuse("a copy between the devices of two runtimes");
  }
  if (source.bytes() == 0) return;
  const auto request = request_for(copy_kind::automatic, target.data(), target.bytes(),
                                   source.data(), source.bytes());
  if (!stream.is_none()) {
    const auto on = to_work_stream(stream);
    target.memory()->used_on(on->on());
    source.memory()->used_on(on->on());
    return copy_on(stream, request, py::make_tuple(target, source));
  }
  submit_on_lane(
      home_of(target), lane::compute, {{target.memory(), true}, {source.memory(), false}},
      [&](troupe::stream& on) { return on.copy_raw(request); }, py::none());
}

namespace {

// One of a batch, as bytes.
void add_copy(const py::tuple& pair, std::vector<copy_entry>& entries,
              std::vector<memory_access>& uses, py::list& kept) {
  const bool from_device = py::isinstance<device_array>(pair[1]);
  const bool to_device = py::isinstance<device_array>(pair[0]);
  if (!from_device && !to_device) refuse("a copy from host to host in a batch");
  copy_entry made;
  std::size_t source_bytes = 0;
  std::optional<py::dtype> target_type, source_type;
  if (to_device) {
    const auto& target = pair[0].cast<const device_array&>();
    expect_writable(target);
    target_type = element_type_of(target);
    made.target = target.data();
    made.target_bytes = target.bytes();
    uses.push_back({target.memory(), true});
  } else {
    const auto target = writable(pair[0]);
    target_type = element_type_of(py::object(pair[0]));
    made.target = target.data;
    made.target_bytes = made.bytes = target.bytes;
    kept.append(target.owner);
  }
  if (from_device) {
    const auto& source = pair[1].cast<const device_array&>();
    made.source = source.data();
    source_bytes = source.bytes();
    source_type = element_type_of(source);
    if (to_device) made.bytes = source.bytes();
    uses.push_back({source.memory(), false});
  } else {
    const auto source = readable(pair[1]);
    made.source = source.data;
    made.bytes = source_bytes = source.bytes;
    source_type = element_type_of(py::object(pair[1]));
    kept.append(source.owner);
  }
  expect_alike(target_type, made.target_bytes, source_type, source_bytes);
  expect_room(made.bytes, source_bytes, "from an array of");
  expect_room(made.bytes, made.target_bytes, "to an array of");
  entries.push_back(made);
  kept.append(pair);
}

} // namespace

void copy_batch(const py::object& copies, const py::object& stream) {
  std::vector<copy_entry> entries;
  std::vector<memory_access> uses;
  py::list kept;
  for (const auto& each : copies) {
    if (!py::isinstance<py::tuple>(each) && !py::isinstance<py::list>(each)) {
      refuse_type("an entry of copies", "a pair (dst, src)", each);
    }
    const auto pair = py::tuple(py::reinterpret_borrow<py::object>(each));
    if (pair.size() != 2) {
      refuse("an entry of copies has " + std::to_string(pair.size()) + " parts; it is (dst, src)");
    }
    add_copy(pair, entries, uses, kept);
  }
  if (entries.empty()) return;
  copy_batch_request request;
  request.entries = entries;
  request.held = true;
  if (stream.is_none()) {
    const auto& home = uses.front().of->home();
    wait_for_uses(uses);
    return check(without_gil([&] { return home->home().copy_batch(request); }));
  }
  const auto on = to_work_stream(stream);
  on->let_go_ended();
  for (const auto& each : uses) each.of->used_on(on->on());
  order_after_calls(*on);
  on->submit([&] { return on->on().copy_batch(request); });
  keep_for_capture(on->on(), kept);
  on->keep(std::move(kept));
}

py::array to_numpy(const device_array& source) {
  py::array made(source.type(), source.shape());
  if (source.bytes() != 0) {
    const auto flat = made.attr("reshape")(-1).attr("view")("uint8");
    copy_to_host(flat, source, py::none());
  }
  return made;
}

void bind_copies(py::module_& m) {
  m.def(
      "memcpy_host_to_device",
      [](const py::object& dst, const py::object& src, const py::object& stream) {
        copy_to_device(to<const device_array>(dst, "dst", "a DeviceArray"), src, stream);
      },
      py::arg("dst"), py::arg("src"), py::arg("stream") = py::none(),
      "Copies src, a numpy array or another buffer, to dst. Both have as many elements of one "
      "dtype, in any shape; plain bytes (uint8, bytes, what device_malloc gives) go to the start "
      "of anything with room for them. With a stream it returns at once: "
      "src is kept alive and must not be changed until the copy has ended.");
  m.def(
      "memcpy_device_to_host",
      [](const py::object& dst, const py::object& src, const py::object& stream) {
        copy_to_host(dst, to<const device_array>(src, "src", "a DeviceArray"), stream);
      },
      py::arg("dst"), py::arg("src"), py::arg("stream") = py::none(),
      "Copies src to dst, a writable contiguous numpy array. Both have as many elements of one "
      "dtype, in any shape; where one of them is plain bytes dst is filled from the beginning of "
      "src. With a stream it returns at once: "
      "dst is kept alive and holds the result when the copy has ended.");
  m.def(
      "memcpy_d2d",
      [](const py::object& dst, const py::object& src, const py::object& stream) {
        copy_on_device(to<const device_array>(dst, "dst", "a DeviceArray"),
                       to<const device_array>(src, "src", "a DeviceArray"), stream);
      },
      py::arg("dst"), py::arg("src"), py::arg("stream") = py::none(),
      "Copies all of src to dst, both on devices, also on two. dtypes and sizes as of "
      "memcpy_host_to_device. With a stream it returns at once.");
  m.def("memcpy_batch", &copy_batch, py::arg("copies"), py::arg("stream") = py::none(),
        "Makes many small copies as one command: a sequence of pairs (dst, src), all of one "
        "direction, each as for the memcpy of that direction.");
}

} // namespace troupe::python
