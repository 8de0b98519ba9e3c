// What the Python module is measured against: the same calls of the C++ facade, made in C++ loops.
// A module of its own, with its own runtime.

#include <chrono>
#include <cstddef>
#include <memory>
#include <vector>

#include <pybind11/pybind11.h>

#include "troupe/troupe.hpp"

namespace {

constexpr std::size_t mebibyte = std::size_t{1} << 20;

class peer {
public:
  /// Nanoseconds that submitting one of `count` empty kernels takes, and one copy of 1 MiB.
  double launch(int count) {
    const auto held = runtime_.create_signal();
    work_.wait(held).or_throw();
    const auto spent = each(count, [&] { work_.launch("nothing", [] {}).or_throw(); });
    held.raise();
    work_.synchronize().or_throw();
    return spent;
  }

  double copy(int count) {
    return each(count, [&] { home_.copy(on_device_, host_).or_throw(); });
  }

private:
  template <class Call>
  static double each(int count, Call call) {
    const auto begun = std::chrono::steady_clock::now();
    for (int i = 0; i < count; ++i) call();
    const std::chrono::duration<double, std::nano> spent = std::chrono::steady_clock::now() - begun;
    return spent.count() / count;
  }

  troupe::runtime runtime_;
  troupe::context home_ = runtime_.device(0).value().create_context().value();
  troupe::stream work_ = home_.create_stream().value();
  troupe::buffer<std::byte> on_device_ = home_.allocate<std::byte>(mebibyte).value();
  std::vector<std::byte> host_ = std::vector<std::byte>(mebibyte);
};

} // namespace

PYBIND11_MODULE(troupe_python_peer, m) {
  pybind11::class_<peer>(m, "Peer")
      .def(pybind11::init<>())
      .def("launch", [](peer& self, int count) { return self.launch(count); })
      .def("copy", [](peer& self, int count) { return self.copy(count); });
}
