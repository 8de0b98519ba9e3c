#include "examples/digits/async_step.hpp"

#include <algorithm>
#include <cstdint>

#include "examples/digits/turns.hpp"

namespace troupe::digits {

async_step::async_step(const workshop& shop)
    : context_(shop.device.create_context().value()),
      pool_(context_.create_pool({.release_threshold_bytes = UINT64_MAX}).value()),
      net_(context_, shop.net) {
  std::vector<stream> streams;
  for (std::size_t index = 0; index < std::min(shop.streams, shop.buffers); ++index) {
    streams.push_back(context_.create_stream().value());
  }
  for (std::size_t index = 0; index < shop.buffers; ++index) {
    auto& made = sets_.emplace_back();
    made.commands = streams[index % streams.size()];
    made.done = context_.create_event().value();
    made.input = shop.runtime.allocate_host<float>(net_.tensors().front().floats).value();
    made.output = shop.runtime.allocate_host<float>(net_.tensors().back().floats).value();
    for (const auto& tensor : net_.tensors()) {
      made.tensors.push_back(pool_.allocate<float>(made.commands, tensor.floats).value());
    }
  }
}

answers async_step::run(const image_set& images) {
  return classify_in_turn(
      sets_, images, net_.batch(), [this](buffer_set& set) { submit(set); }, &collect);
}

void async_step::submit(buffer_set& set) {
  set.commands.copy(set.tensors.front(), set.input).or_throw();
  for (std::size_t index = 0; index < net_.size(); ++index) {
    net_.launch(set.commands, index, set.tensors[index].span(), set.tensors[index + 1].span())
        .or_throw();
  }
  set.commands.copy(set.output, set.tensors.back()).or_throw();
  set.commands.record(set.done).or_throw();
}

void async_step::collect(buffer_set& set, classification& result) {
  if (!set.batch) return;
  set.done.synchronize().or_throw();
  result.finish(*set.batch, {set.output.data(), set.output.size()});
  set.batch.reset();
}

} // namespace troupe::digits
