#include "api/python/src/captures.hpp"

#include <map>
#include <memory>

#include "api/python/src/failure.hpp"
#include "api/python/src/stream_handle.hpp"
#include "troupe/capture.hpp"
#include "troupe/graph.hpp"

namespace troupe::python {
namespace {

// What the commands captured so far need, by capture; by the GIL.
std::map<std::uint64_t, py::list>& kept_by_capture() {
  static auto* made = new std::map<std::uint64_t, py::list>;
  return *made;
}

// `runtime.Graph`: what a capture made, with all that its commands need.
struct graph_handle {
  std::shared_ptr<place> home;
  std::optional<graph> made; // nothing before the end of the capture
  py::object kept;

  [[nodiscard]] const graph& get() const {
    if (!made) refuse("the graph is not there yet: its with block has not ended well");
    return *made;
  }
};

// `runtime.ExecutableGraph`.
struct executable_handle {
  std::shared_ptr<place> home;
  executable_graph ready;
  py::object kept;

  ~executable_handle() { let_go(ready); }
};

// The with block of a capture.
struct capture_block {
  std::shared_ptr<work_stream> origin;
  capturing::mode how;
  py::object graph;
  std::uint64_t id = 0;
};

capturing::mode mode_named(const std::string& name) {
  if (name == "global") return capturing::mode::global;
  if (name == "thread") return capturing::mode::thread_bound;
  if (name == "relaxed") return capturing::mode::relaxed;
  refuse("a capture mode '" + name + "'; it is global, thread or relaxed");
}

py::object begin(capture_block& self) {
  auto& on = self.origin->on();
  const auto info = take(without_gil([&]() -> result<capturing::info> {
    if (auto s = capturing::begin(on, self.how); !s.ok()) return s;
    return capturing::look(on);
  }));
  self.id = info.id;
  kept_by_capture()[self.id] = py::list();
  self.graph = py::cast(graph_handle{self.origin->home(), std::nullopt, py::none()});
  return self.graph;
}

// A block left by an exception ends the capture as well, and passes that on.
void end(capture_block& self, const py::object& type) {
  auto kept = std::move(kept_by_capture()[self.id]);
  kept_by_capture().erase(self.id);
  std::optional<graph> made;
  const auto outcome = without_gil([&] {
    auto ended = capturing::end(self.origin->on());
    if (ended) made = std::move(ended).value();
    return ended.error();
  });
  if (!type.is_none()) return;
  check(outcome);
  auto& handle = self.graph.cast<graph_handle&>();
  handle.made = std::move(made);
  handle.kept = std::move(kept);
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
  check(without_gil([&] { return self.ready.launch(on->on()); }));
  on->keep(self.kept);
}

} // namespace

void keep_for_capture(const stream& on, const py::object& object) {
  if (kept_by_capture().empty()) return;
  const auto info = capturing::look(on);
  if (!info || !info.value().active) return;
  const auto found = kept_by_capture().find(info.value().id);
  if (found != kept_by_capture().end()) found->second.append(object);
}

void bind_graphs(py::module_& m) {
  py::class_<graph_handle>(m, "Graph",
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

  py::class_<capture_block>(m, "Capture", "The with block of Stream.capture.")
      .def("__enter__", &begin)
      .def("__exit__", [](capture_block& self, const py::object& type, const py::object&,
                          const py::object&) { end(self, type); });

  m.attr("Stream").attr("capture") = py::cpp_function(
      [](const stream_handle& on, const std::string& mode) {
        return capture_block{on.work, mode_named(mode), py::none()};
      },
      py::is_method(m.attr("Stream")), py::name("capture"), py::arg("mode") = "global",
      "A with block in which what this stream is given becomes a Graph, its value, and does not "
      "run. Other streams are drawn in as they wait for an event recorded here, and must be "
      "joined by one before the end. While a capture goes on blocking copies are refused "
      "(107030): in mode 'global' on all threads, 'thread' on this one, 'relaxed' nowhere.");
}

} // namespace troupe::python
