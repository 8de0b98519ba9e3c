// A test of a user who has only the installed package: explores the orders of a small program.

#include <stdexcept>

#include <troupe/testing_gtest.hpp>
#include <troupe/troupe.hpp>

using namespace troupe::testing;

TEST(consumer, reads_what_was_written_in_every_order) {
  exploration_options options;
  options.runs = 50;
  EXPECT_TRUE(passes(explore(asked(options), [](stage& play) {
    auto context = play.runtime().device(0).value().create_context().value();
    auto first = context.create_stream().value();
    auto second = context.create_stream().value();
    auto ready = context.create_event().value();
    int cell = 0;
    first.launch("write", [&cell] { cell = 42; }).or_throw();
    first.record(ready).or_throw();
    second.wait(ready).or_throw();
    second.launch("read", [&cell] { cell *= 2; }).or_throw();
    context.synchronize().or_throw();
    if (cell != 84) throw std::runtime_error("the two came in the wrong order");
  })));
}

int main(int argc, char** argv) { return run_all_tests(argc, argv); }
