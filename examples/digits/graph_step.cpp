#include "examples/digits/graph_step.hpp"

#include <utility>

#include "examples/digits/turns.hpp"

namespace troupe::digits {

graph_step::graph_step(const workshop& shop)
    : context_(shop.device.create_context().value()), net_(context_, *shop.net) {
  for (std::size_t index = 0; index < shop.streams; ++index) {
    graph_batch graph(context_, net_);
    const auto pixels = graph.images.elements<float>().size();
    const auto scores = graph.probabilities.elements<float>().size();
    lanes_.push_back({context_.create_stream().value(), std::move(graph),
                      std::vector<float>(pixels), std::vector<float>(scores), std::nullopt});
  }
}

answers graph_step::run(const image_set& images) {
  const auto submit = [](lane& next) {
    next.commands.copy(next.graph.images.elements<float>(), next.input).or_throw();
    next.graph.run.launch(next.commands).or_throw();
  };
  return classify_in_turn(lanes_, images, net_.batch(), submit, &collect);
}

savings graph_step::saved() const {
  const auto& passes = lanes_.front().graph.run.report().passes;
  return {passes.launches, passes.bytes};
}

void graph_step::collect(lane& from, classification& result) {
  if (!from.batch) return;
  from.commands.copy(from.output, from.graph.probabilities.elements<float>()).or_throw();
  result.finish(*from.batch, from.output);
  from.batch.reset();
}

} // namespace troupe::digits
