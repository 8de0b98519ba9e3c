#include "api/python/src/captures.hpp"

#include <map>
#include <memory>
#include <utility>

#include "api/python/src/arguments.hpp"
#include "api/python/src/collected.hpp"
#include "api/python/src/lanes.hpp"
#include "api/python/src/stream_handle.hpp"
#include "troupe/capture.hpp"
#include "troupe/graph.hpp"

namespace troupe::python {
namespace {

// What the commands captured so far need, by capture; by the GIL.
std::map<std::uint64_t, py::list>& kept_lists() {
  static auto* made = new std::map<std::uint64_t, py::list>;
  return *made;
}

// `runtime.Graph`: what a capture made, with all that its commands need.
struct graph_handle {
  std::shared_ptr<place> home;
  std::optional<graph> made; // nothing before the end of the capture
  py::object kept = py::none();

  [[nodiscard]] const graph& get() const {
    if (!made) refuse("the graph is not there yet: its with block has not ended well");
    return *made;
  }

  [[nodiscard]] const py::object& refers_to() const noexcept { return kept; }
  void clear() {
    made.reset();
    kept = py::none();
  }
};

// `runtime.ExecutableGraph`.
struct executable_handle {
  std::shared_ptr<place> home;
  executable_graph ready;
  py::object kept = py::none();

  executable_handle() = default;
  executable_handle(const executable_handle&) = delete;
  executable_handle& operator=(const executable_handle&) = delete;
  ~executable_handle() { let_go(ready); }

  [[nodiscard]] const py::object& refers_to() const noexcept { return kept; }
  void clear() {
    let_go(ready);
    kept = py::none();
  }
};

// The with block of a capture. One that is abandoned ends its capture.
struct capture_block {
  std::shared_ptr<work_stream> origin;
  capturing::mode how;
  py::object graph = py::none();
  std::uint64_t id = 0; // of the capture while it goes on
  bool done = false;

  capture_block(std::shared_ptr<work_stream> on, capturing::mode m)
      : origin(std::move(on)), how(m) {}
  capture_block(const capture_block&) = delete;
  capture_block& operator=(const capture_block&) = delete;
  ~capture_block() { abandon(); }

  [[nodiscard]] const py::object& refers_to() const noexcept { return graph; }
  void clear() {
    abandon();
    graph = py::none();
  }

  // Ends the capture and takes what it made; true if it goes on, as the calling thread must not end
  // it.
  [[nodiscard]] std::pair<bool, status> end(std::optional<troupe::graph>& made) {
    const auto outcome = without_gil([&] {
      auto ended = capturing::end(origin->on());
      if (ended) made = std::move(ended).value();
      return ended.error();
    });
    const auto why = outcome.code();
    const bool goes_on = why == code::capture_wrong_thread || why == code::not_supported;
    return {goes_on, outcome};
  }

  void abandon() {
    if (id == 0 || !python_is_open()) return;
    std::optional<troupe::graph> unwanted;
    if (!end(unwanted).first) (void)take_kept();
  }

  // What the commands need; the capture has ended.
  [[nodiscard]] py::object take_kept() {
    auto found = kept_lists().extract(std::exchange(id, 0));
    done = true;
    return found.empty() ? py::object(py::none()) : py::object(std::move(found.mapped()));
  }
};

capturing::mode mode_named(const std::string& name) {
  if (name == "global") return capturing::mode::global;
  if (name == "thread") return capturing::mode::thread_bound;
  if (name == "relaxed") return capturing::mode::relaxed;
  refuse("mode is '" + name + "'; it is global, thread or relaxed");
}

py::object begin(capture_block& self) {
  if (self.id != 0 || self.done) refuse("the capture has begun before; each is for one with block");
  auto& on = self.origin->on();
  const auto info = take(without_gil([&]() -> result<capturing::info> {
    if (auto s = capturing::begin(on, self.how); !s.ok()) return s;
    return capturing::look(on);
  }));
  self.id = info.id;
  kept_lists()[self.id] = py::list();
  self.graph = py::cast(graph_handle{self.origin->home(), std::nullopt});
  return self.graph;
}

// A block left by an exception ends the capture as well, and passes that on.
void leave(capture_block& self, const py::object& type, const py::object&, const py::object&) {
  if (self.id == 0) {
    check(make_status(code::stream_not_captured,
                      self.done ? "the capture has ended" : "the capture has not begun"));
  }
  std::optional<graph> made;
  const auto [goes_on, outcome] = self.end(made);
  if (goes_on) check(outcome);
  auto kept = self.take_kept();
  if (!type.is_none()) return;
  check(outcome);
  auto& handle = self.graph.cast<graph_handle&>();
  handle.made = std::move(made);
  handle.kept = std::move(kept);
}

std::string repr(const capture_block& self) {
  return "<runtime.Capture of stream " + std::to_string(self.origin->on().id()) +
         (self.id != 0 ? ", going on>" : self.done ? ", ended>" : ", not begun>");
}

std::unique_ptr<executable_handle> instantiate(const graph_handle& self) {
  const auto& g = self.get();
  auto ready =
      take(without_gil([&] { return executable_graph::instantiate(self.home->home(), g); }));
  auto made = std::make_unique<executable_handle>();
  made->home = self.home;
  made->ready = std::move(ready);
  made->kept = self.kept;
  return made;
}

void launch(executable_handle& self, const py::object& given) {
  const auto on = to_work_stream(given);
  order_after_calls(*on);
  on->submit([&] { return self.ready.launch(on->on()); });
  on->keep(self.kept);
}

} // namespace

void keep_for_capture(const stream& on, const py::object& object) {
  if (kept_lists().empty()) return;
  const auto info = capturing::look(on);
  if (!info || !info.value().active) return;
  const auto found = kept_lists().find(info.value().id);
  if (found != kept_lists().end()) found->second.append(object);
}

capture_share::capture_share(const stream& on, py::object object) : object_(std::move(object)) {
  if (kept_lists().empty()) return;
  const auto info = capturing::look(on);
  if (!info) return;
  const auto found = kept_lists().find(info.value().id);
  if (found == kept_lists().end()) return;
  found->second.append(object_);
  capture_ = found->first;
}

void capture_share::settle(work_stream& on) const {
  if (capture_ == 0) return;
  const auto info = capturing::look(on.on());
  if (!info || info.value().id != capture_) on.keep(object_);
}

void bind_graphs(py::module_& m) {
  py::class_<graph_handle>(m, "Graph",
                           py::custom_type_setup(&collected<graph_handle>::set_up),
                           "Work and the order between its parts, captured from streams.")
      .def_property_readonly(
          "node_count", [](const graph_handle& g) { return g.get().node_count(); },
          "Parts of the work.")
      .def_property_readonly(
          "edge_count", [](const graph_handle& g) { return g.get().edge_count(); },
          "Pairs of parts of which one comes after the other.")
      .def(
          "to_dot", [](const graph_handle& g) { return g.get().to_dot(); },
          "The graph in DOT, each node with its name and modelled cost.")
      .def(
          "to_json", [](const graph_handle& g) { return g.get().to_json(); }, "The same as JSON.")
      .def("instantiate", &instantiate, "Makes it ready to run; any number of times.")
      .def("__repr__", [](const graph_handle& g) {
        if (!g.made) return std::string("<runtime.Graph, being captured>");
        return "<runtime.Graph of " + std::to_string(g.made->node_count()) + " nodes>";
      });

  py::class_<executable_handle>(m, "ExecutableGraph",
                                py::custom_type_setup(&collected<executable_handle>::set_up),
                                "A graph ready to run. It keeps the memory that its work names.")
      .def("launch", &launch, py::arg("stream") = py::none(),
           "Replays the graph as one command of the stream; returns at once.")
      .def(
          "destroy",
          [](executable_handle& self) {
            check(without_gil([&] { return self.ready.destroy(); }));
            self.kept = py::none();
          },
          "Ends it. Raises 107037 while a replay has not ended.")
      .def_property_readonly(
          "replays", [](const executable_handle& e) { return e.ready.replays(); },
          "Launched so far.")
      .def("__repr__", [](const executable_handle& e) {
        return "<runtime.ExecutableGraph, " + std::to_string(e.ready.replays()) + " replays>";
      });

  py::class_<capture_block>(m, "Capture",
                            py::custom_type_setup(&collected<capture_block>::set_up),
                            "The with block of Stream.capture, for use once. Dropped before its "
                            "end, it ends the capture, and what was captured is gone.")
      .def("__enter__", &begin, "Begins the capture; gives its Graph, which is ready at the end.")
      .def("__exit__", &leave,
           "Ends the capture, on the thread that began it unless the mode is relaxed (107038).")
      .def("__repr__", &repr);

  m.attr("Stream").attr("capture") = py::cpp_function(
      [](const stream_handle& on, const py::object& mode) {
        return std::make_unique<capture_block>(on.work, mode_named(to_text(mode, "mode")));
      },
      py::is_method(m.attr("Stream")), py::name("capture"), py::arg("mode") = "global",
      "A with block in which what this stream is given becomes a Graph, its value, and does not "
      "run. Other streams are drawn in as they wait for an event recorded here, and must be "
      "joined by one before the end. While a capture goes on blocking copies are refused "
      "(107030): in mode 'global' on all threads, 'thread' on this one, 'relaxed' nowhere.");
}

} // namespace troupe::python
