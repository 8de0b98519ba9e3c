#include "examples/digits/async_graph_step.hpp"

#include <algorithm>
#include <utility>

#include "examples/digits/turns.hpp"

namespace troupe::digits {

async_graph_step::async_graph_step(const workshop& shop)
    : context_(shop.device.create_context().value()), net_(context_, *shop.net) {
  std::vector<stream> streams;
  for (std::size_t index = 0; index < std::min(shop.streams, shop.buffers); ++index) {
    streams.push_back(context_.create_stream().value());
  }
  for (std::size_t index = 0; index < shop.buffers; ++index) {
    graph_batch graph(context_, net_);
    const auto pixels = graph.images.elements<float>().size();
    const auto scores = graph.probabilities.elements<float>().size();
    sets_.push_back({streams[index % streams.size()], context_.create_event().value(),
                     shop.runtime.allocate_host<float>(pixels).value(),
                     shop.runtime.allocate_host<float>(scores).value(), std::move(graph),
                     std::nullopt});
  }
}

answers async_graph_step::run(const image_set& images) {
  return classify_in_turn(sets_, images, net_.batch(), &submit, &collect);
}

savings async_graph_step::saved() const {
  const auto& passes = sets_.front().graph.run.report().passes;
  return {passes.launches, passes.bytes};
}

void async_graph_step::submit(buffer_set& set) {
  set.commands.copy(set.graph.images.elements<float>(), set.input).or_throw();
  set.graph.run.launch(set.commands).or_throw();
  set.commands.copy(set.output, set.graph.probabilities.elements<float>()).or_throw();
  set.commands.record(set.done).or_throw();
}

void async_graph_step::collect(buffer_set& set, classification& result) {
  if (!set.batch) return;
  set.done.synchronize().or_throw();
  result.finish(*set.batch, {set.output.data(), set.output.size()});
  set.batch.reset();
}

} // namespace troupe::digits
