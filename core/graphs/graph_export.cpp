#include "core/graphs/graph_export.hpp"

#include <nlohmann/json.hpp>

namespace troupe {
namespace {

using nlohmann::ordered_json;

const char* work_name(const command& work) noexcept {
  if (is_copy(work.kind)) return "copy";
  return work.kind == command_kind::callback ? "callback" : "kernel";
}

std::string in_quotes(const std::string& text) {
  std::string made = "\"";
  for (const auto each : text) {
    if (each == '"' || each == '\\') made += '\\';
    made += each == '\n' ? ' ' : each;
  }
  return made + '"';
}

void write_dot(std::string& out, const graph_ir& graph, const node_cost& cost,
               const std::string& prefix) {
  for (std::size_t i = 0; i < graph.nodes().size(); ++i) {
    const auto& node = graph.nodes()[i];
    const auto id = prefix + std::to_string(i);
    auto label = node.name;
    label += std::string(" (") + (node.work ? work_name(*node.work) : to_string(node.kind)) + ")";
    if (node.kind == node_kind::repeat) label += " x" + std::to_string(node.times);
    if (const auto ns = cost ? cost(node) : -1; ns >= 0) label += " " + std::to_string(ns) + " ns";
    out += "  " + id + " [label=" + in_quotes(label) + "];\n";
    for (const auto each : node.after) {
      out += "  " + prefix + std::to_string(each) + " -> " + id + ";\n";
    }
    if (!node.body) continue;
    out += "  subgraph cluster_" + id + " {\n  label=" + in_quotes(node.name) + ";\n";
    write_dot(out, *node.body, cost, id + "_");
    out += "  }\n";
  }
}

ordered_json json_of(const node_description& what) {
  ordered_json made{{"name", what.name}};
  for (const auto& [key, value] : what.attributes) made["attributes"][key] = value;
  for (const auto& each : what.tensors) {
    made["tensors"].push_back(
        {{"type", each.type}, {"shape", each.shape}, {"written", each.written}});
  }
  return made;
}

ordered_json json_of(const graph_ir& graph, const node_cost& cost) {
  ordered_json made{{"name", graph.name()}, {"nodes", ordered_json::array()}};
  for (std::size_t i = 0; i < graph.nodes().size(); ++i) {
    const auto& node = graph.nodes()[i];
    ordered_json one{{"id", i}, {"name", node.name}, {"kind", to_string(node.kind)}};
    one["after"] = node.after;
    if (node.work) {
      one["command"] = work_name(*node.work);
      one["blocks"] = node.work->blocks;
    }
    if (const auto ns = cost ? cost(node) : -1; ns >= 0) one["cost_ns"] = ns;
    if (node.kind == node_kind::repeat) one["times"] = node.times;
    if (node.what) one["operator"] = json_of(*node.what);
    if (node.body) one["body"] = json_of(*node.body, cost);
    made["nodes"].push_back(std::move(one));
  }
  return made;
}

} // namespace

std::string to_dot(const graph_ir& graph, const node_cost& cost) {
  std::string out = "digraph " + in_quotes(graph.name()) + " {\n";
  write_dot(out, graph, cost, "n");
  return out + "}\n";
}

std::string to_json(const graph_ir& graph, const node_cost& cost) {
  return json_of(graph, cost).dump(2);
}

} // namespace troupe
