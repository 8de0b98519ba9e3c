// A program of a user of the component `operators`: a layer of a network, on a stream and as
// dataflow.

#include <cstdio>
#include <vector>

#include <troupe/operators/dataflow.hpp>
#include <troupe/operators/functions.hpp>
#include <troupe/troupe.hpp>

int main() {
  using namespace troupe;
  runtime rt;
  auto ctx = rt.device(0).value().create_context().value();
  auto s = ctx.create_stream().value();
  auto memory = ctx.create_pool().value();

  const auto layout = tensor_layout::make(element_type::f32, {2, 2}).value();
  const auto x = tensor::make(ctx, layout).value();
  ctx.copy(x.elements<float>(), std::vector<float>{1.f, -2.f, 3.f, 4.f}).or_throw();

  const auto product = ops::matmul(s, memory, x, x).value();
  const auto here = ops::relu(s, memory, product).value();
  s.synchronize().or_throw();

  auto flow = dataflow::make(ctx).value();
  const auto again = flow.apply({"matmul", {}, {}, {}}, std::vector{x, x}).value();
  const auto there = flow.apply({"relu", {}, {}, {}}, std::vector{again}).value();
  flow.wait(there).or_throw();

  const std::vector<float> wanted{0.f, 0.f, 15.f, 10.f};
  for (const auto& each : {here, there}) {
    std::vector<float> got(4);
    ctx.copy(got, each.elements<float>()).or_throw();
    if (got == wanted) continue;
    std::fprintf(stderr, "got %g %g %g %g\n", got[0], got[1], got[2], got[3]);
    return 1;
  }
  return 0;
}
