#include "tests/bench/contenders/troupe_rows.hpp"
#include "tests/bench/contenders/troupe_session.hpp"
#include "tests/bench/measure.hpp"
#include "troupe/batcher.hpp"

#include <cmath>
#include <memory>
#include <vector>

namespace troupe::bench::troupe_rows {

namespace {

// Small requests of a kind that needs a preparation, which is the same for all that are done together:
// here a table of 8,192 values, some 50 us.
class lookup {
public:
  [[nodiscard]] std::vector<float> operator()(const std::vector<float>& inputs) const {
    std::vector<float> table(8'192);
    for (std::size_t i = 0; i < table.size(); ++i)
      table[i] = std::exp(-static_cast<float>(i) / 8'192.0F);
    std::vector<float> answers;
    answers.reserve(inputs.size());
    for (const auto input : inputs)
      answers.push_back(table[static_cast<std::size_t>(input) % table.size()]);
    return answers;
  }
};

}  // namespace

repetition single_requests(const workload& w) {
  auto s = std::make_shared<troupe_session>(w.clients);
  auto run = std::make_shared<lookup>();
  return [s, run, w] {
    return ns_each(w.count, [&] {
      on_clients(w.clients, [&](std::size_t client) {
        auto& mine = s->streams[client];
        for (std::size_t i = 0; i < w.count / w.clients; ++i) {
          std::vector<float> answer;
          mine.launch("request", [&answer, &run] { answer = (*run)({1.0F}); }).or_throw();
          mine.synchronize().or_throw();
        }
      });
    });
  };
}

repetition batched_requests(const workload& w) {
  auto s = std::make_shared<troupe_session>(1);
  auto batch = std::make_shared<batcher<float, float>>(
      batcher<float, float>::create(s->streams[0], {}, lookup()).value());
  return [s, batch, w] {
    return ns_each(w.count, [&] {
      on_clients(w.clients, [&](std::size_t) {
        for (std::size_t i = 0; i < w.count / w.clients; ++i)
          (void)batch->request(1.0F).value();
      });
    });
  };
}

}  // namespace troupe::bench::troupe_rows
