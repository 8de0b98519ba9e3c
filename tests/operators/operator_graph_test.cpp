#include "troupe/operators/executable_operators.hpp"

#include <array>
#include <bit>
#include <cmath>

#include "tests/operators/operator_cases.hpp"
#include "tests/operators/operator_stage.hpp"
#include "troupe/operators/run_operator.hpp"

/// Operators described as a graph, put together and replayed, against the same one by one.
namespace troupe {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

// Sums of at most some hundred products of numbers up to 1, in another order.
constexpr float tolerance = 2e-5F;

struct operator_graphs : operator_results {
  operator_graph g{"the graph"};
  std::uint32_t chance = 1;

  // Numbers in eighths from -1 to 1, and not the same each time.
  std::vector<float> some(std::size_t count) {
    std::vector<float> made(count);
    for (auto& each : made) {
      chance = chance * 1664525U + 1013904223U;
      each = static_cast<float>((chance >> 16U) % 17U) / 8.F - 1.F;
    }
    return made;
  }

  tensor some_tensor(tensor_layout layout) {
    const auto count = static_cast<std::size_t>(layout.elements());
    return put(std::move(layout), some(count));
  }

  tensor some_tensor(dimensions shape) {
    return some_tensor(tensor_layout::make(element_type::f32, std::move(shape)).value());
  }

  operand input(dimensions shape) { return g.input(some_tensor(std::move(shape))).value(); }
  operand constant(dimensions shape) { return g.constant(some_tensor(std::move(shape))).value(); }

  operand call(const std::string& name, const std::vector<operand>& inputs,
               decltype(operator_description::attributes) attributes = {},
               std::optional<element_type> type = std::nullopt) {
    return g.apply({name, std::move(attributes), {}, {}}, inputs, type).value();
  }

  tensor output(const operand& of) {
    auto made = zeros(g.program().tensors[of.index].layout);
    g.output(of, made).or_throw();
    return made;
  }

  executable_operators ready(const fusion_options& options = {}) {
    s.synchronize().or_throw(); // what was put is there
    return executable_operators::instantiate(ctx, g, options).value();
  }

  // The bytes of `to` after a replay.
  std::vector<std::byte> replayed(const executable_operators& run, const tensor& to) {
    s.fill_bytes(to.bytes(), 0xee).or_throw();
    run.launch(s).or_throw();
    return bytes_of(to);
  }

  std::vector<std::byte> bytes_of(const tensor& to) {
    std::vector<std::byte> values(to.bytes().size());
    s.copy(values, to.bytes()).or_throw();
    return values;
  }

  // The same operators, one by one; what `of` then holds.
  std::vector<std::byte> eager(const operand& of) {
    std::vector<tensor> all(g.bound().begin(), g.bound().end());
    for (const auto& step : g.program().steps) {
      std::vector<tensor> inputs;
      for (const auto each : step.inputs) inputs.push_back(all[each]);
      all[step.output] = zeros(step.what.outputs.front());
      run_operator(s, memory, step.what, inputs, {&all[step.output], 1}).or_throw();
    }
    return bytes_of(all[of.index]);
  }

  void expect_close(const std::vector<std::byte>& got, const std::vector<std::byte>& wanted) {
    ASSERT_EQ(got.size(), wanted.size());
    for (std::size_t i = 0; i < got.size(); i += sizeof(float)) {
      const auto a = *reinterpret_cast<const float*>(&got[i]);
      const auto b = *reinterpret_cast<const float*>(&wanted[i]);
      ASSERT_NEAR(a, b, tolerance * (1 + std::abs(b))) << "at " << i / sizeof(float);
    }
  }

  // At each level: launches so many, and results near those of the operators one by one.
  void expect_levels(const operand& of, std::size_t pairs, std::size_t full) {
    const auto to = output(of);
    const auto wanted = eager(of);
    const auto operators = g.program().steps.size();
    const std::array expected{operators, pairs, full};
    for (const auto level : {fusion_level::none, fusion_level::pairs, fusion_level::full}) {
      const auto run = ready({.level = level});
      EXPECT_EQ(run.report().launches, expected.at(static_cast<std::size_t>(level)))
          << to_text(run.report());
      EXPECT_EQ(run.report().passes.launches + run.report().launches, operators);
      for (int turn = 0; turn < 3; ++turn) expect_close(replayed(run, to), wanted);
    }
  }
};

TEST_F(operator_graphs, S10_compute_what_numpy_computes) {
  for (const auto& each : operator_cases()) {
    for (const bool constants : {false, true}) {
      operator_graph one;
      std::vector<operand> inputs;
      for (const auto& in : each.at("inputs")) {
        const auto from = put(layout_of(in), in.at("values").get<std::vector<float>>());
        const bool first = inputs.empty() || !constants;
        inputs.push_back((first ? one.input(from) : one.constant(from)).value());
      }
      const auto result = one.apply(description_of(each), inputs).value();
      const auto to = zeros(one.program().tensors[result.index].layout);
      ASSERT_THAT(one.output(result, to), IsOk());
      s.synchronize().or_throw();
      const auto run = executable_operators::instantiate(ctx, one);
      ASSERT_THAT(run, IsOk()) << each.dump();
      ASSERT_THAT(run.value().launch(s), IsOk());
      const auto got = take(to);
      const auto wanted = each.at("output").at("values").get<std::vector<double>>();
      ASSERT_EQ(got.size(), wanted.size());
      for (std::size_t i = 0; i < got.size(); ++i) {
        ASSERT_NEAR(got[i], wanted[i], case_tolerance * (1 + std::abs(wanted[i])))
            << each.at("name") << " at " << i;
      }
    }
  }
}

TEST_F(operator_graphs, S10_matmul_sum_and_activation_run_as_one) {
  for (const auto* activation : {"relu", "gelu", "silu", "sigmoid", "tanh"}) {
    g = operator_graph();
    const auto product = call("matmul", {input({5, 24}), constant({24, 33})});
    const auto biased = call("bias_add", {product, constant({33})});
    expect_levels(call(activation, {biased}), 2, 1);
  }
  g = operator_graph();
  const auto product = call("matmul", {input({2, 5, 24}), input({2, 24, 33})});
  expect_levels(call("tanh", {call("add", {input({2, 5, 33}), product})}), 2, 1);
  g = operator_graph();
  expect_levels(call("add", {call("matmul", {input({5, 24}), constant({24, 33})}),
                             constant({1, 33})}),
                1, 1);
}

TEST_F(operator_graphs, S10_convolution_norm_and_activation_run_as_one) {
  for (const bool biased : {false, true}) {
    for (const std::int64_t groups : {1, 2}) {
      g = operator_graph();
      std::vector<operand> inputs{input({2, 4, 9, 8}), constant({6, 4 / groups, 3, 3})};
      if (biased) inputs.push_back(constant({6}));
      const auto seen = call("conv2d", inputs,
                             {{"padding", dimensions{1, 1}}, {"groups", groups}});
      auto spread = some(6);
      for (auto& each : spread) each = each * each + 0.25F;
      const auto variance = g.constant(put({6}, spread)).value();
      const auto normed = call("batch_norm", {seen, constant({6}), constant({6}), constant({6}),
                                              variance},
                               {{"epsilon", 1e-3}});
      expect_levels(call("relu", {normed}), 2, 1);
    }
  }
}

TEST_F(operator_graphs, S10_convolution_sum_and_activation_run_as_one) {
  for (const bool last : {false, true}) {
    g = operator_graph();
    const dimensions shape{2, 8, 6, 6};
    auto layout = last ? tensor_layout::channels_last(element_type::f32, shape).value()
                       : tensor_layout::make(element_type::f32, shape).value();
    const auto image = g.input(some_tensor(layout)).value();
    const auto beside = g.input(some_tensor(layout)).value();
    const auto seen = call("conv2d", {image, constant({8, 8, 3, 3}), constant({8})},
                           {{"padding", dimensions{1, 1}}});
    expect_levels(call("relu", {call("add", {seen, beside})}), 2, 1);
  }
}

// oneDNN 2.6 takes these as post-operations of a convolution and computes some wrong.
TEST_F(operator_graphs, S10_what_is_added_to_a_convolution_may_broadcast_in_any_way) {
  const dimensions shape{2, 6, 6, 5};
  for (std::size_t pattern = 0; pattern < 16; ++pattern) {
    for (const bool last : {false, true}) {
      g = operator_graph();
      auto layout = last ? tensor_layout::channels_last(element_type::f32, shape).value()
                         : tensor_layout::make(element_type::f32, shape).value();
      const auto image = g.input(some_tensor(layout)).value();
      auto beside = shape;
      for (std::size_t i = 0; i < beside.size(); ++i) {
        if ((pattern >> i & 1U) != 0) beside[i] = 1;
      }
      const auto seen = call("conv2d", {image, constant({6, 6, 3, 3})},
                             {{"padding", dimensions{1, 1}}});
      expect_levels(call("add", {seen, input(beside)}), 1, 1);
    }
  }
}

TEST_F(operator_graphs, S10_a_residual_block_runs_as_two) {
  const auto image = input({1, 4, 8, 8});
  const auto short_way = call("conv2d", {image, constant({4, 4, 1, 1})});
  const auto long_way = call("conv2d", {image, constant({4, 4, 3, 3})},
                             {{"padding", dimensions{1, 1}}});
  expect_levels(call("relu", {call("add", {long_way, short_way})}), 3, 2);
}

// Chains promise the same bits, whatever oneDNN makes of them.
TEST_F(operator_graphs, S10_element_wise_chains_give_the_same_bits) {
  const std::vector<std::string> activations{"relu", "gelu", "silu", "sigmoid", "tanh"};
  const std::vector<std::string> pairs{"add", "sub", "mul", "div"};
  const std::vector<dimensions> besides{{3, 5, 7}, {1, 5, 1}, {7}, {1, 1, 1}};
  for (std::size_t i = 0; i < 60; ++i) {
    g = operator_graph();
    auto value = input({3, 5, 7});
    for (std::size_t k = 0; k < 5; ++k) {
      const auto pick = i * 7 + k * 3 + i / 5;
      if (k % 2 == 1) {
        value = call(activations[pick % 5], {value});
      } else if (pick % 11 == 10) {
        value = call("bias_add", {value, input({5})});
      } else {
        const auto other = input(besides[pick / 3 % 4]);
        value = pick % 2 == 0 ? call(pairs[pick % 4], {value, other})
                              : call(pairs[pick % 4], {other, value});
      }
    }
    const auto to = output(value);
    const auto wanted = eager(value);
    EXPECT_EQ(replayed(ready(), to), wanted) << "chain " << i;
    EXPECT_EQ(replayed(ready({.level = fusion_level::pairs}), to), wanted) << "chain " << i;
    EXPECT_EQ(replayed(ready({.level = fusion_level::none}), to), wanted) << "chain " << i;
  }
}

TEST_F(operator_graphs, S10_casts_give_the_same_bits_in_one_launch) {
  const auto x = input({4, 6});
  const auto half = call("cast", {call("mul", {x, input({4, 6})})}, {}, element_type::f16);
  const auto back = call("cast", {half}, {}, element_type::f32);
  const auto sum = call("add", {back, x});
  const auto moved = call("transpose", {sum}, {{"permutation", dimensions{1, 0}}});
  const auto last = call("cast", {moved}, {}, element_type::s8);
  const auto to = output(last);
  const auto wanted = eager(last);
  for (const auto& [options, launches] :
       {std::pair{fusion_options{}, 2U}, {fusion_options{.casts = false}, 6U},
        {fusion_options{.level = fusion_level::none}, 6U}}) {
    const auto run = ready(options);
    EXPECT_EQ(run.report().launches, launches) << to_text(run.report());
    EXPECT_EQ(replayed(run, to), wanted);
  }
}

TEST_F(operator_graphs, S10_what_lies_between_shares_memory) {
  auto value = input({64, 64});
  for (int i = 0; i < 10; ++i) value = call("matmul", {value, constant({64, 64})});
  const auto to = output(value);
  const auto run = ready();
  const auto each = std::uint64_t{64} * 64 * 4;
  EXPECT_GE(run.report().unshared_bytes, 9 * each);
  EXPECT_LT(run.report().private_bytes, 4 * each);
  expect_close(replayed(run, to), eager(value));
}

TEST_F(operator_graphs, S10_replays_follow_their_inputs_and_updates) {
  const auto a = put({2}, {1, 2});
  const auto x = g.input(a).value();
  const auto y = call("relu", {call("add", {x, g.constant(put({2}, {10, 10})).value()})});
  const auto first = output(y);
  auto run = ready();
  ASSERT_THAT(run.launch(s), IsOk());
  EXPECT_EQ(take(first), (std::vector<float>{11, 12}));
  s.copy(a.elements<float>(), std::vector<float>{3, -20}).or_throw();
  ASSERT_THAT(run.launch(s), IsOk());
  EXPECT_EQ(take(first), (std::vector<float>{13, 0}));
  const auto second = zeros(element_type::f32, {2});
  ASSERT_THAT(run.update(x, put({2}, {5, 6})), IsOk());
  ASSERT_THAT(run.update(y, second), IsOk());
  ASSERT_THAT(run.launch(s), IsOk());
  EXPECT_EQ(take(second), (std::vector<float>{15, 16}));
  EXPECT_EQ(take(first), (std::vector<float>{13, 0}));
  EXPECT_EQ(run.replays(), 3U);
  EXPECT_THAT(run.destroy(), IsOk());
  EXPECT_THAT(run.launch(s), HasCode(code::invalid_handle));
}

TEST_F(operator_graphs, S10_updates_refuse_what_does_not_fit_and_change_nothing) {
  const auto a = put({2}, {1, 2});
  const auto x = g.input(a).value();
  const auto c = g.constant(put({2}, {10, 10})).value();
  const auto sum = call("add", {x, c});
  const auto y = call("matmul", {call("reshape", {sum}, {{"shape", dimensions{1, 2}}}),
                                 g.constant(put({2, 1}, {1, 1})).value()});
  const auto to = output(y);
  auto run = ready();
  EXPECT_THAT(run.update(c, a), SaysThat("t1 is neither an input nor an output"));
  EXPECT_THAT(run.update(sum, a), SaysThat("t2 is neither an input nor an output"));
  EXPECT_THAT(run.update(x, to), SaysThat("t0 is f32[2]; its new tensor is f32[1, 1]"));
  EXPECT_THAT(run.update({}, a), SaysThat("no graph"));
  const auto other_context = dev.create_context().value();
  const auto foreign =
      tensor::make(other_context, tensor_layout::make(element_type::f32, {2}).value()).value();
  EXPECT_THAT(run.update(x, foreign), HasCode(code::invalid_parameter));
  ASSERT_THAT(run.launch(s), IsOk());
  EXPECT_EQ(take(to), std::vector<float>{23});
}

TEST_F(operator_graphs, S10_refusals_name_what_is_wrong) {
  const auto x = input({2, 2});
  EXPECT_THAT(g.output(x, some_tensor({2, 2})), SaysThat("t0 is given, not computed"));
  EXPECT_THAT(executable_operators::instantiate(ctx, g).error(),
              SaysThat("'the graph' has no outputs"));
  EXPECT_THAT(g.input({}).error(), SaysThat("a tensor is empty"));
  const auto y = call("relu", {x});
  EXPECT_THAT(g.output(y, some_tensor({2, 3})),
              SaysThat("t1 is f32[2, 2]; the tensor to write it to is f32[2, 3]"));
  EXPECT_THAT(g.apply({"relu", {}, {}, {}}, std::array{operand{}}).error(), SaysThat("no graph"));
  EXPECT_THAT(g.output(y, g.bound()[0]), IsOk());
  EXPECT_THAT(g.output(y, g.bound()[0]), SaysThat("t1 is an output already"));
  EXPECT_THAT(executable_operators::instantiate(ctx, g).error(),
              SaysThat("output t1 and t0 overlap"));
  EXPECT_THAT(executable_operators().launch(s), HasCode(code::invalid_handle));
}

TEST_F(operator_graphs, S10_report_and_exports_tell_what_became_of_the_operators) {
  const auto product = call("matmul", {input({4, 8}), constant({8, 16})});
  const auto biased = call("bias_add", {product, constant({16})});
  const auto kept = output(biased);
  const auto to = output(call("relu", {biased}));
  const auto run = ready();
  EXPECT_THAT(to_text(run.report()),
              AllOf(HasSubstr("matmul: matmul -> t2 and bias_add -> t4: one, 512 bytes saved"),
                    HasSubstr("not, a reader outside: t4 is kept"),
                    HasSubstr("3 operators in 2 launches")));
  EXPECT_THAT(run.to_dot(), HasSubstr("matmul+bias_add"));
  EXPECT_THAT(run.to_json(), AllOf(HasSubstr("matmul+bias_add"), HasSubstr("relu")));
}

TEST_F(operator_graphs, S10_give_all_memory_back) {
  const auto y = call("relu", {call("matmul", {input({32, 32}), constant({32, 32})})});
  const auto z = call("softmax", {y});
  const auto to = output(z);
  s.synchronize().or_throw();
  const auto before = dev.memory().value().used;
  {
    const auto run = ready();
    for (int i = 0; i < 5; ++i) run.launch(s).or_throw();
    EXPECT_GT(dev.memory().value().used, before);
    s.synchronize().or_throw();
  }
  EXPECT_EQ(dev.memory().value().used, before);
}

} // namespace
} // namespace troupe
