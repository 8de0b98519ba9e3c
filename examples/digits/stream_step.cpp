#include "examples/digits/stream_step.hpp"

#include <cstdint>

#include "examples/digits/pooled_batch.hpp"
#include "examples/digits/turns.hpp"

namespace troupe::digits {

stream_step::stream_step(const workshop& shop)
    : context_(shop.device.create_context().value()),
      pool_(context_.create_pool({.release_threshold_bytes = UINT64_MAX}).value()),
      net_(context_, shop.net) {
  for (std::size_t index = 0; index < shop.streams; ++index) {
    auto& made = lanes_.emplace_back();
    made.commands = context_.create_stream().value();
    made.input.resize(net_.tensors().front().floats);
    made.output.resize(net_.tensors().back().floats);
  }
}

answers stream_step::run(const image_set& images) {
  const auto submit = [this](lane& next) {
    next.scores = submit_pooled(net_, pool_, next.commands, next.input);
  };
  return classify_in_turn(lanes_, images, net_.batch(), submit, &collect);
}

void stream_step::collect(lane& from, classification& result) {
  if (!from.batch) return;
  from.commands.copy(from.output, from.scores).or_throw();
  from.commands.synchronize().or_throw();
  result.finish(*from.batch, from.output);
  from.scores = {};
  from.batch.reset();
}

} // namespace troupe::digits
