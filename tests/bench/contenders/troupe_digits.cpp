#include "examples/digits/async_step.hpp"
#include "tests/bench/contenders/troupe_rows.hpp"
#include "tests/bench/contenders/troupe_session.hpp"
#include "tests/bench/peers/digits_work.hpp"

#include <gsl/gsl>

#include <memory>
#include <stdexcept>

namespace troupe::bench::troupe_rows {

namespace {

// The defaults of the example's program.
constexpr std::size_t streams_used = 2;
constexpr std::size_t batches_in_flight = 4;

struct pipeline : troupe_session {
  explicit pipeline(std::size_t count)
    : troupe_session(0),
      work(count),
      step({rt, rt.device(0).value(), work.net, streams_used, batches_in_flight}) {}

  digits_work work;
  digits::async_step step;
};

}  // namespace

repetition digits_pipeline(const workload& w) {
  auto line = std::make_shared<pipeline>(w.count);
  return [line, w] {
    const auto done = line->step.run(line->work.images);
    if (done.predictions != line->work.expected)
      throw std::runtime_error("the pipeline finds other classes than the bare loop");
    return gsl::narrow_cast<double>(w.count) / done.seconds;
  };
}

}  // namespace troupe::bench::troupe_rows
