// A tour: a program with two streams forgets the event between them, and works. The search finds
// the order in which it does not, makes it small, prints it as a line, and replays that line.

#include <cstdio>
#include <exception>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include <troupe/exploring.hpp>
#include <troupe/troupe.hpp>

namespace {

using troupe::testing::stage;

// One stream brings a batch to the device, another works on it and brings the result back.
class two_stage_pipeline {
public:
  explicit two_stage_pipeline(bool with_event) : with_event_(with_event) {}

  void operator()(stage& play) const {
    auto context = play.runtime().device(0).value().create_context().value();
    auto uploads = context.create_stream().value();
    auto work = context.create_stream().value();
    auto uploaded = context.create_event().value();
    auto batch = context.allocate<float>(64).value();
    auto pinned = play.runtime().allocate_host<float>(64).value(); // copies of it do not wait
    for (auto& each : pinned.span()) each = 3.0F;

    uploads.copy(batch, pinned).or_throw();
    if (with_event_) {
      uploads.record(uploaded).or_throw();
      work.wait(uploaded).or_throw();
    }
    work.launch("double", &two_stage_pipeline::twice, batch).or_throw();
    std::vector<float> result(64, 0.0F);
    work.copy(result, batch).or_throw();
    context.synchronize().or_throw();
    if (result.front() != 6.0F) {
      throw std::runtime_error("3 doubled is " + std::to_string(result.front()));
    }
  }

private:
  static void twice(std::span<float> values) {
    for (auto& each : values) each *= 2.0F;
  }

  bool with_event_;
};

// Returns whether the tour went as told.
bool tour() {
  using namespace troupe::testing;
  const two_stage_pipeline broken(false);
  const two_stage_pipeline mended(true);

  std::puts("1. the event is missing, and the plainest order does not mind");
  const auto plain = simulate({}, broken);
  std::printf("   %llu steps, %lld ns of device time\n\n",
              static_cast<unsigned long long>(plain.steps),
              static_cast<long long>(plain.elapsed.count()));

  std::puts("2. the search tries other orders");
  exploration_options options;
  options.runs = 1'000;
  const auto found = explore(options, broken);
  std::printf("%s\n", found.describe().c_str());
  if (!found.failure) return false;
  const auto& failure = *found.failure;

  std::puts("3. the line shows the failure again, each time");
  for (int i = 0; i < 20; ++i) {
    const auto what = replay(options, failure.seed, failure.script, broken);
    if (what != failure.what) return false;
    if (i == 0) std::printf("   %s\n   %s\n", failure.replay_line().c_str(), what.c_str());
  }

  std::puts("\n4. with the event every order is right, that one included");
  const auto after = explore(options, mended);
  std::printf("   %s\n", after.describe().c_str());
  return !after.failure && replay(options, failure.seed, failure.script, mended).empty();
}

} // namespace

int main() {
  try {
    if (tour()) return 0;
    std::fputs("the tour went another way than told\n", stderr);
    return 1;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 2;
  }
}
