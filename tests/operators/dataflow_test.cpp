#include "troupe/operators/dataflow.hpp"

#include <array>
#include <numeric>
#include <random>
#include <set>

#include "tests/support/stage.hpp"
#include "troupe/operators/run_operator.hpp"

/// Work that finds its own order, against the same work one step after the other.
namespace troupe {
namespace {

using word = std::uint32_t;

struct flows : stage_test {
  dataflow flow = dataflow::make(ctx).value();

  tensor words(std::int64_t count, word value = 0) {
    auto layout = tensor_layout::make(element_type::s32, {count}).value();
    auto made = tensor::make(ctx, std::move(layout)).value();
    ctx.copy(made.elements<word>(), std::vector<word>(static_cast<std::size_t>(count), value))
        .or_throw();
    return made;
  }

  std::vector<word> take(const tensor& from) {
    std::vector<word> values(from.elements<word>().size());
    ctx.copy(values, from.elements<word>()).or_throw();
    return values;
  }

  static word* data(const tensor& of) { return reinterpret_cast<word*>(of.bytes().data()); }

  status increase(const tensor& what) {
    const std::array both{what};
    return flow.submit("increase", [at = data(what)] { ++*at; }, both, both);
  }

  status fail(const tensor& output) {
    const auto broken = [] { return make_status(code::invalid_parameter, "broken on purpose"); };
    return flow.submit("broken", broken, {}, {&output, 1});
  }

  status copy(const tensor& from, const tensor& to) {
    return flow.submit("copy", [a = data(from), b = data(to)] { *b = *a; }, {&from, 1}, {&to, 1});
  }
};

TEST_F(flows, S12_nodes_on_one_tensor_follow_each_other) {
  const auto x = words(1);
  for (int i = 0; i < 300; ++i) ASSERT_THAT(increase(x), IsOk());
  EXPECT_THAT(flow.wait(x), IsOk());
  EXPECT_EQ(take(x), std::vector<word>{300});
  EXPECT_EQ(flow.counters().submitted, 300U);
}

TEST_F(flows, S12_independent_nodes_run_at_once) {
  LIVE_ONLY("kernels wait for each other");
  if (test_workers() < 2) GTEST_SKIP() << "needs two engines";
  const std::array pair{words(1), words(1)};
  gate both;
  for (const auto& each : pair) {
    ASSERT_THAT(flow.submit("meet", [&both] { both.pass(); }, {}, {&each, 1}), IsOk());
  }
  both.await_arrivals(2);
  both.open();
  EXPECT_THAT(flow.wait_all(), IsOk());
}

// One step of a random program: tensor `to` becomes a mixture of `from` and, if `keeps`, itself.
struct step {
  std::size_t to;
  std::vector<std::size_t> from;
  bool keeps;
  word factor;

  void run(word* target, const std::vector<const word*>& sources) const {
    word sum = factor;
    for (const auto* each : sources) sum = sum * 31 + *each;
    *target = keeps ? *target * factor + sum : sum;
  }
};

std::vector<step> random_program(unsigned seed, std::size_t tensors, std::size_t steps) {
  std::minstd_rand chance(seed);
  std::vector<step> made;
  for (std::size_t i = 0; i < steps; ++i) {
    step next{chance() % tensors, {}, chance() % 2 == 0, static_cast<word>(chance())};
    for (auto left = chance() % 3; left > 0; --left) {
      const auto from = chance() % tensors;
      if (from != next.to) next.from.push_back(from);
    }
    made.push_back(std::move(next));
  }
  return made;
}

TEST_F(flows, S12_random_programs_give_what_they_give_one_step_after_the_other) {
  constexpr std::size_t count = 6;
  for (unsigned seed = 1; seed <= 10; ++seed) {
    std::vector<tensor> tensors;
    std::vector<word> eager(count, 1);
    for (std::size_t i = 0; i < count; ++i) tensors.push_back(words(1, 1));
    for (const auto& each : random_program(seed, count, 60)) {
      std::vector<const word*> here;
      std::vector<const word*> there;
      std::vector<tensor> reads;
      for (const auto from : each.from) {
        here.push_back(&eager[from]);
        there.push_back(data(tensors[from]));
        reads.push_back(tensors[from]);
      }
      each.run(&eager[each.to], here);
      if (each.keeps) reads.push_back(tensors[each.to]);
      auto kernel = [each, target = data(tensors[each.to]), there] { each.run(target, there); };
      ASSERT_THAT(flow.submit("mix", kernel, reads, {&tensors[each.to], 1}), IsOk());
    }
    ASSERT_THAT(flow.wait_all(), IsOk());
    for (std::size_t i = 0; i < count; ++i) EXPECT_EQ(take(tensors[i])[0], eager[i]) << seed;
  }
}

TEST_F(flows, S12_a_failure_marks_what_depends_on_it_and_the_rest_goes_on) {
  const std::array x{words(1, 9), words(1), words(1), words(1, 7)};
  ASSERT_THAT(fail(x[0]), IsOk());
  ASSERT_THAT(copy(x[0], x[1]), IsOk());
  ASSERT_THAT(copy(x[1], x[2]), IsOk());
  ASSERT_THAT(increase(x[3]), IsOk());
  EXPECT_THAT(flow.wait(x[3]), IsOk());
  EXPECT_EQ(take(x[3]), std::vector<word>{8});
  const auto last = flow.wait(x[2]);
  EXPECT_THAT(last, HasCode(code::invalid_parameter));
  EXPECT_THAT(last, SaysThat("'copy' was not run: it needs what 'broken' did not deliver"));
  ASSERT_NE(last.record()->cause, nullptr);
  EXPECT_EQ(last.record()->cause->task_name, "broken");
  EXPECT_EQ(take(x[1]), std::vector<word>{0}); // not run
  EXPECT_EQ(flow.counters().failed, 1U);
  EXPECT_EQ(flow.counters().skipped, 2U);
  EXPECT_THAT(flow.wait_all(), SaysThat("broken on purpose"));
  EXPECT_THAT(flow.wait_all(), IsOk());
  EXPECT_THAT(ctx.synchronize(), IsOk());
}

TEST_F(flows, S12_what_failed_stays_bad_until_it_is_written_again) {
  const std::array x{words(1), words(1), words(1, 5)};
  ASSERT_THAT(fail(x[0]), IsOk());
  EXPECT_THAT(flow.wait_all(), HasCode(code::invalid_parameter));
  ASSERT_THAT(copy(x[0], x[1]), IsOk());
  EXPECT_THAT(flow.wait(x[1]), HasCode(code::invalid_parameter));
  ASSERT_THAT(copy(x[2], x[0]), IsOk());
  ASSERT_THAT(copy(x[0], x[1]), IsOk());
  EXPECT_THAT(flow.wait(x[1]), IsOk());
  EXPECT_EQ(take(x[1]), std::vector<word>{5});
}

TEST_F(flows, S12_a_tensor_where_a_failed_one_was_has_no_part_in_its_failure) {
  const auto y = words(1);
  const std::byte* before = nullptr;
  int came_again = 0;
  for (word value = 1; value < 6; ++value) {
    const auto x = words(1, value); // commonly where the one before was
    came_again += x.bytes().data() == before ? 1 : 0;
    before = x.bytes().data();
    EXPECT_THAT(flow.wait(x), IsOk());
    ASSERT_THAT(copy(x, y), IsOk());
    EXPECT_THAT(flow.wait_all(), IsOk());
    EXPECT_EQ(take(y)[0], value);
    ASSERT_THAT(fail(x), IsOk());
    EXPECT_THAT(flow.wait_all(), HasCode(code::invalid_parameter));
  }
  EXPECT_GT(came_again, 0) << "no address came again: the test tests nothing";
}

TEST_F(flows, S12_a_kernel_that_throws_fails_its_node) {
  const auto x = words(1);
  ASSERT_THAT(flow.submit("throws", [] { throw std::runtime_error("no"); }, {}, {&x, 1}), IsOk());
  EXPECT_THAT(flow.wait(x), HasCode(code::kernel_exception));
}

TEST_F(flows, S12_keeps_to_its_window) {
  auto narrow = dataflow::make(ctx, {2, 3, 4}).value();
  const auto x = words(1);
  for (int i = 0; i < 40; ++i) {
    ASSERT_THAT(narrow.submit("write", [] {}, {}, {&x, 1}), IsOk());
    EXPECT_LE(narrow.counters().submitted - narrow.counters().concluded, 3U);
  }
  EXPECT_THAT(narrow.wait_all(), IsOk());
}

TEST_F(flows, S12_operators_give_what_they_give_on_a_stream) {
  pool memory = ctx.create_pool().value();
  const auto layout = tensor_layout::make(element_type::f32, {8, 8}).value();
  const auto x = tensor::make(ctx, layout).value();
  std::vector<float> values(64);
  std::iota(values.begin(), values.end(), -32.F);
  ctx.copy(x.elements<float>(), values).or_throw();
  const auto network = [&](auto&& apply) {
    std::vector<tensor> parts;
    for (const auto* name : {"relu", "tanh", "sigmoid"}) {
      auto part = apply(operator_description{name, {}, {}, {}}, std::vector{x});
      parts.push_back(apply(operator_description{"matmul", {}, {}, {}}, std::vector{part, x}));
    }
    auto sum = apply(operator_description{"add", {}, {}, {}}, std::vector{parts[0], parts[1]});
    return apply(operator_description{"sub", {}, {}, {}}, std::vector{sum, parts[2]});
  };
  const auto eager = network([&](auto what, auto inputs) {
    return apply_operator(s, memory, std::move(what), inputs).value();
  });
  const auto found = network(
      [&](auto what, auto inputs) { return flow.apply(std::move(what), inputs).value(); });
  s.synchronize().or_throw();
  ASSERT_THAT(flow.wait(found), IsOk());
  EXPECT_EQ(take(found), take(eager));
}

TEST_F(flows, S12_memory_of_dead_temporaries_serves_again) {
  const auto layout = tensor_layout::make(element_type::f32, {64}).value();
  auto x = flow.make_tensor(layout).value();
  ASSERT_THAT(flow.submit("clear", [at = data(x)] { std::fill_n(at, 64, word{0}); }, {}, {&x, 1}),
              IsOk());
  std::set<const std::byte*> places;
  for (int i = 0; i < 100; ++i) {
    x = flow.apply({"relu", {}, {}, {}}, {&x, 1}).value();
    places.insert(x.bytes().data());
  }
  EXPECT_LE(places.size(), 10U);
  ASSERT_THAT(flow.wait(x), IsOk());
  EXPECT_EQ(take(x), std::vector<word>(64, 0));
}

TEST_F(flows, S12_refuses_what_it_cannot_do_and_says_why) {
  EXPECT_THAT(dataflow::make(ctx, {0, 8, 4}).error(), SaysThat("dataflow_options::streams is 0"));
  EXPECT_THAT(dataflow::make(ctx, {1, 0, 4}).error(), SaysThat("dataflow_options::window is 0"));
  const auto x = words(1);
  EXPECT_THAT(flow.submit({"many", 2}, [] {}, {}, {&x, 1}), SaysThat("'many' has 2 blocks"));
  const std::array none{tensor()};
  EXPECT_THAT(flow.submit("none", [] {}, none, {}), SaysThat("'none': a tensor is empty"));
  auto other = dev.create_context().value();
  const auto far = tensor::make(other, x.layout()).value();
  EXPECT_THAT(flow.submit("far", [] {}, {}, {&far, 1}), SaysThat("a tensor is memory of context"));
  EXPECT_EQ(flow.counters().submitted, 0U);
}

TEST_F(flows, S12_begins_after_an_event) {
  const auto x = words(1);
  const auto e = ctx.create_event().value();
  s.launch("set", [](std::span<std::byte> at) { at[0] = std::byte{41}; }, x.bytes()).or_throw();
  s.record(e).or_throw();
  ASSERT_THAT(flow.after(e), IsOk());
  ASSERT_THAT(increase(x), IsOk());
  EXPECT_THAT(flow.wait(x), IsOk());
  EXPECT_EQ(take(x), std::vector<word>{42});
}

} // namespace
} // namespace troupe
