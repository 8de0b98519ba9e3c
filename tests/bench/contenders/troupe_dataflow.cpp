#include "tests/bench/contenders/troupe_rows.hpp"
#include "tests/bench/contenders/troupe_session.hpp"
#include "tests/bench/measure.hpp"
#include "troupe/operators/dataflow.hpp"

#include <memory>

namespace troupe::bench::troupe_rows {

namespace {

struct flow_session {
  explicit flow_session(std::size_t data) {
    const auto layout = tensor_layout::make(element_type::f32, {16}).value();
    for (std::size_t i = 0; i < data; ++i)
      tensors.push_back(tensor::make(session.ctx, layout).value());
  }

  troupe_session session{0};
  dataflow flow = dataflow::make(session.ctx).value();
  std::vector<tensor> tensors;
};

}  // namespace

repetition dataflow_tasks(const workload& w) {
  auto s = std::make_shared<flow_session>(w.streams);
  return [s, w] {
    return ns_each(w.count, [&] {
      for (std::size_t i = 0, datum = 0; i < w.count; ++i) {
        const std::span<const tensor> both{&s->tensors[datum], 1};
        s->flow.submit("nop", [] {}, both, both).or_throw();
        if (++datum == w.streams)
          datum = 0;
      }
      s->flow.wait_all().or_throw();
    });
  };
}

}  // namespace troupe::bench::troupe_rows
