#include "inference_server.hpp"

#include <algorithm>
#include <numeric>

namespace {

// `data` holds the rows and then the weights. A row's score is the product of the two, nothing
// below 0.
void score_rows(troupe::block b, std::span<const float> data, std::span<float> scores) {
  const auto weights = data.last(inference_server::columns);
  for (auto i = std::size_t{b.index}; i < scores.size(); i += b.count) {
    const auto row = data.subspan(i * weights.size(), weights.size());
    scores[i] = std::max(0.0F, std::inner_product(row.begin(), row.end(), weights.begin(), 0.0F));
  }
}

} // namespace

inference_server::inference_server(const troupe::runtime& runtime, std::span<const float> weights)
    : runtime_(runtime), context_(runtime.device(0).value().create_context().value()),
      weights_(weights.begin(), weights.end()) {}

answer inference_server::score(std::span<const float> batch) {
  answer made;
  while (made.tries < tries_max) {
    ++made.tries;
    made.scores.assign(batch.size() / columns, 0.0F);
    made.outcome = try_once(batch, made.scores);
    if (made.outcome.ok()) return made;
    made.scores.clear();
    if (made.outcome.code() == troupe::code::device_out_of_memory) break;
  }
  return made;
}

// Pinned memory on both ways: a copy of it returns at once, and only `synchronize` waits, with a
// limit. What a try that was given up on may still touch, the runtime keeps until it is over.
troupe::status inference_server::try_once(std::span<const float> batch,
                                          std::vector<float>& scores) {
  auto stream = context_.create_stream();
  auto in = runtime_.allocate_host<float>(batch.size() + weights_.size());
  auto result = runtime_.allocate_host<float>(scores.size());
  auto data = context_.allocate<float>(batch.size() + weights_.size());
  auto out = context_.allocate<float>(scores.size());
  for (const auto& each :
       {stream.error(), in.error(), result.error(), data.error(), out.error()}) {
    if (!each.ok()) return each;
  }
  std::ranges::copy(batch, in.value().begin());
  std::ranges::copy(weights_, in.value().begin() + batch.size());
  auto& s = stream.value();
  const auto count = scored_;
  const std::vector<troupe::status> steps{
      s.copy(data.value(), in.value()),
      s.launch({"score", 2}, score_rows, data.value(), out.value()),
      s.copy(result.value(), out.value()), s.callback("scored", [count] { ++*count; })};
  const auto refused = std::ranges::find_if(steps, [](const auto& each) { return !each.ok(); });
  const auto outcome = refused != steps.end() ? *refused : s.synchronize(patience);
  if (outcome.ok()) {
    std::ranges::copy(result.value(), scores.begin());
  } else {
    (void)s.abort(); // what is left of this try need not run
  }
  return outcome;
}
