// A program of a user who has only the installed package: scales a vector on a device.

#include <algorithm>
#include <cstdio>
#include <span>
#include <vector>

#include <troupe/troupe.hpp>

#if __has_include(<troupe/testing.hpp>)
#error "what is for tests must not be seen without troupe::testing"
#endif

int main() {
  troupe::runtime rt;
  auto dev = rt.device(0).value();
  auto ctx = dev.create_context().value();
  auto s = ctx.create_stream().value();
  auto x = ctx.allocate<float>(256).value();

  std::vector<float> h(256, 3.f);
  s.copy(x, h).or_throw();
  const auto scale = [](troupe::block b, std::span<float> v, float k) {
    for (auto i = b.index; i < v.size(); i += b.count)
      v[i] *= k;
  };
  s.launch("scale", scale, x, 2.f).or_throw();
  std::vector<float> scaled(256, 0.f);
  s.copy(scaled, x).or_throw();
  s.synchronize().or_throw();

  const auto wrong = std::ranges::count_if(scaled, [](float value) { return value != 6.f; });
  if (wrong != 0) std::fprintf(stderr, "%td of 256 elements are wrong\n", wrong);
  return wrong == 0 ? 0 : 1;
}
