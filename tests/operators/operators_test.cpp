#include "troupe/operators/functions.hpp"

#include <atomic>
#include <bit>
#include <cmath>

#include "tests/behaviour/forked_child.hpp"
#include "tests/operators/operator_cases.hpp"
#include "tests/operators/operator_stage.hpp"
#include "tests/support/sanitizers.hpp"

/// Operators on a device against what numpy computed (make_cases.py).
namespace troupe {
namespace {

TEST_F(operator_results, S19_compute_what_numpy_computes) {
  for (const auto& each : operator_cases()) {
    const auto what = description_of(each);
    std::vector<tensor> inputs;
    for (const auto& in : each.at("inputs")) {
      inputs.push_back(put(layout_of(in), in.at("values").get<std::vector<float>>()));
    }
    const auto output = apply_operator(s, memory, what, inputs);
    ASSERT_THAT(output, IsOk()) << each.dump();
    EXPECT_EQ(output.value().layout(), layout_of(each.at("output"))) << to_text(what);
    const auto wanted = each.at("output").at("values").get<std::vector<double>>();
    const auto got = take(output.value());
    ASSERT_EQ(got.size(), wanted.size()) << to_text(what);
    for (std::size_t i = 0; i < got.size(); ++i) {
      ASSERT_NEAR(got[i], wanted[i], case_tolerance * (1 + std::abs(wanted[i])))
          << to_text(what) << " at " << i;
    }
  }
}

TEST_F(operator_results, S19_refuse_shapes_that_do_not_fit_and_name_both) {
  const std::array pair{put({2, 3}, std::vector<float>(6)), put({4, 2}, std::vector<float>(8))};
  const auto refused = apply_operator(s, memory, {"matmul", {}, {}, {}}, pair);
  EXPECT_THAT(refused, HasCode(code::invalid_parameter));
  EXPECT_THAT(refused.error(),
              SaysThat("operator 'matmul': argument 'right' has shape [4, 2] and 'left' has shape "
                       "[2, 3]"));
  EXPECT_THAT(run_operator(s, memory, {"relu", {}, {}, {}}, {&pair[0], 1}, {&pair[1], 1}),
              SaysThat("argument 'output' is f32[4, 2]"));
}

TEST_F(operator_results, S19_refuse_names_attributes_and_types_they_do_not_know) {
  const std::array one{put({2, 3}, std::vector<float>(6))};
  EXPECT_THAT(apply_operator(s, memory, {"rely", {}, {}, {}}, one).error(),
              SaysThat("operator 'rely': there is none of that name"));
  EXPECT_THAT(apply_operator(s, memory, {"softmax", {{"axes", std::int64_t{1}}}, {}, {}}, one)
                  .error(),
              SaysThat("there is no attribute 'axes'; it has axis"));
  EXPECT_THAT(apply_operator(s, memory, {"softmax", {{"axis", std::int64_t{2}}}, {}, {}}, one)
                  .error(),
              SaysThat("the input has shape [2, 3]"));
  const std::array mixed{one[0], zeros(element_type::s8, {2, 3})};
  EXPECT_THAT(apply_operator(s, memory, {"add", {}, {}, {}}, mixed).error(),
              SaysThat("argument 'right' is s8[2, 3], which does not fit 'left', f32[2, 3]"));
}

TEST_F(operator_results, S19_multiply_small_integers_into_s32) {
  const auto left = put<std::int8_t>(tensor_layout::make(element_type::s8, {2, 2}).value(),
                                     {1, -2, 100, 127});
  const auto right = put<std::int8_t>(tensor_layout::make(element_type::s8, {2, 1}).value(),
                                      {100, 127});
  const auto product = apply_operator(s, memory, {"matmul", {}, {}, {}}, std::array{left, right});
  ASSERT_THAT(product, IsOk());
  EXPECT_EQ(take<std::int32_t>(product.value()), (std::vector<std::int32_t>{-154, 26129}));
}

TEST_F(operator_results, S19_cast_between_types) {
  const std::array from{put({3}, {1.F, -2.5F, 300.F})};
  const std::array to{zeros(element_type::s8, {3})};
  ASSERT_THAT(run_operator(s, memory, {"cast", {}, {}, {}}, from, to), IsOk());
  EXPECT_EQ(take<std::int8_t>(to[0]), (std::vector<std::int8_t>{1, -2, 127}));
  const std::array halves{zeros(element_type::bf16, {3})};
  ASSERT_THAT(run_operator(s, memory, {"cast", {}, {}, {}}, from, halves), IsOk());
  EXPECT_EQ(take<std::uint16_t>(halves[0]), (std::vector<std::uint16_t>{0x3f80, 0xc020, 0x4396}));
}

TEST_F(operator_results, S19_broadcast_on_either_side) {
  const auto row = put({2}, {1.F, 10.F});
  const auto table = put({2, 2}, {1.F, 2.F, 3.F, 4.F});
  const auto column = put({2, 1}, {5.F, 7.F});
  EXPECT_EQ(take(ops::sub(s, memory, row, table).value()),
            (std::vector<float>{0.F, 8.F, -2.F, 6.F}));
  EXPECT_EQ(take(ops::div(s, memory, column, table).value()),
            (std::vector<float>{5.F, 2.5F, 7.F / 3.F, 1.75F}));
  EXPECT_EQ(take(ops::sub(s, memory, column, row).value()),
            (std::vector<float>{4.F, -5.F, 6.F, -3.F}));
}

TEST_F(operator_results, S19_leave_channels_where_they_lie) {
  const auto lying = tensor_layout::channels_last(element_type::f32, {1, 2, 2, 2}).value();
  const auto image = put(lying, std::vector<float>{-1, 1, -2, 2, -3, 3, -4, 4});
  const auto weight = put({3, 2, 1, 1}, {1, 0, 0, 1, 1, 1});
  const auto seen = ops::conv2d(s, memory, image, weight).value();
  EXPECT_EQ(seen.layout(), tensor_layout::channels_last(element_type::f32, {1, 3, 2, 2}).value());
  EXPECT_EQ(take(seen), (std::vector<float>{-1, 1, 0, -2, 2, 0, -3, 3, 0, -4, 4, 0}));
  const auto positive = ops::relu(s, memory, image).value();
  EXPECT_EQ(positive.layout(), lying);
  EXPECT_EQ(take(positive), (std::vector<float>{0, 1, 0, 2, 0, 3, 0, 4}));
}

TEST_F(operator_results, S19_write_outputs_that_lie_otherwise_than_their_input) {
  const auto image = put(tensor_layout::channels_last(element_type::f32, {1, 2, 1, 2}).value(),
                         std::vector<float>{-1, 1, -2, 2});
  const auto scale = put({2}, {1.F, 2.F});
  const auto zero = put({2}, {0.F, 0.F});
  const auto one = put({2}, {1.F, 1.F});
  const std::array plain{zeros(element_type::f32, {1, 2, 1, 2})};
  ASSERT_THAT(run_operator(s, memory, {"relu", {}, {}, {}}, {&image, 1}, plain), IsOk());
  EXPECT_EQ(take(plain[0]), (std::vector<float>{0, 0, 1, 2}));
  ASSERT_THAT(run_operator(s, memory, {"batch_norm", {{"epsilon", 0.0}}, {}, {}},
                           std::array{image, scale, zero, zero, one}, plain),
              IsOk());
  EXPECT_EQ(take(plain[0]), (std::vector<float>{-1, -2, 2, 4}));
  const std::array gaps{tensor::make(memory, s, tensor_layout::make(element_type::f32, {2, 2},
                                                                   {3, 1}).value()).value()};
  ASSERT_THAT(s.fill_bytes(gaps[0].bytes(), 0), IsOk());
  ASSERT_THAT(run_operator(s, memory, {"reshape", {{"shape", dimensions{2, 2}}}, {}, {}},
                           {&image, 1}, gaps),
              IsOk());
  EXPECT_EQ(take(gaps[0]), (std::vector<float>{-1, -2, 0, 1, 2}));
}

std::uint16_t upper_half(float value) {
  return static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(value) >> 16);
}

// What this processor lacks is refused by name; what it has is right.
TEST_F(operator_results, S19_compute_in_bf16_where_the_library_does) {
  const auto two = tensor_layout::make(element_type::bf16, {2, 2}).value();
  const std::vector<std::uint16_t> values{upper_half(1), upper_half(-2), upper_half(3),
                                          upper_half(4)};
  const auto x = put(two, values);
  const auto product = ops::matmul(s, memory, x, x);
  if (product) {
    EXPECT_EQ(take<std::uint16_t>(product.value()),
              (std::vector{upper_half(-5), upper_half(-10), upper_half(15), upper_half(10)}));
  } else {
    EXPECT_THAT(product.error(), SaysThat("operator matmul(bf16[2, 2], bf16[2, 2])"));
  }
  const auto positive = ops::relu(s, memory, x);
  if (positive) {
    EXPECT_EQ(take<std::uint16_t>(positive.value()),
              (std::vector{upper_half(1), upper_half(0), upper_half(3), upper_half(4)}));
  } else {
    EXPECT_EQ(positive.code(), code::not_supported);
  }
}

TEST_F(operator_results, S19_cast_halves_both_ways) {
  const auto from = put({3}, {1.F, -2.5F, 0.F});
  const std::array halves{zeros(element_type::f16, {3})};
  ASSERT_THAT(run_operator(s, memory, {"cast", {}, {}, {}}, {&from, 1}, halves), IsOk());
  EXPECT_EQ(take<std::uint16_t>(halves[0]), (std::vector<std::uint16_t>{0x3c00, 0xc100, 0}));
  const std::array back{zeros(element_type::f32, {3})};
  ASSERT_THAT(run_operator(s, memory, {"cast", {}, {}, {}}, halves, back), IsOk());
  EXPECT_EQ(take(back[0]), (std::vector<float>{1.F, -2.5F, 0.F}));
}

TEST_F(operator_results, S19_convolve_small_integers_into_s32) {
  const auto image = put<std::uint8_t>(tensor_layout::make(element_type::u8, {1, 1, 2, 2}).value(),
                                       {255, 200, 1, 0});
  const auto weight = put<std::int8_t>(tensor_layout::make(element_type::s8, {1, 1, 2, 2}).value(),
                                       {127, -128, 5, 6});
  const auto seen = ops::conv2d(s, memory, image, weight);
  ASSERT_THAT(seen, IsOk());
  EXPECT_EQ(take<std::int32_t>(seen.value()), (std::vector<std::int32_t>{6790}));
}

TEST_F(operator_results, S19_run_from_several_threads) {
  std::vector<std::vector<float>> got(3);
  std::vector<test_thread> threads;
  for (std::size_t t = 0; t < got.size(); ++t) {
    threads.emplace_back([this, t, &got] {
      auto mine = ctx.create_stream().value();
      const auto start = static_cast<float>(t + 1);
      auto x = tensor::make(memory, mine, tensor_layout::make(element_type::f32, {1, 2}).value())
                   .value();
      mine.copy(x.elements<float>(), std::vector<float>{start, -start}).or_throw();
      for (int i = 0; i < 10; ++i) x = ops::add(mine, memory, x, x).value();
      x = ops::relu(mine, memory, x).value();
      got[t].resize(2);
      mine.copy(got[t], x.elements<float>()).or_throw();
      mine.synchronize().or_throw();
    });
  }
  for (auto& each : threads) each.join();
  for (std::size_t t = 0; t < got.size(); ++t) {
    EXPECT_EQ(got[t], (std::vector<float>{1024.F * static_cast<float>(t + 1), 0.F}));
  }
}

TEST_F(operator_results, S19_leave_a_forked_child_no_lock_that_somebody_held) {
  LIVE_ONLY("a process of its own");
  if (sanitized) GTEST_SKIP() << "the locks of a sanitizer's allocator do not survive a fork";
  const std::array x{zeros(element_type::f32, {2})};
  ASSERT_THAT(apply_operator(s, memory, {"relu", {}, {}, {}}, x), IsOk());
  std::atomic<bool> enough = false;
  test_thread asking([&enough] {
    while (!enough) (void)prepared_operators();
  });
  bool all = true;
  for (int i = 0; all && i < 100; ++i) {
    all = holds_in_child(20, [] { return prepared_operators() > 0; });
  }
  enough = true;
  asking.join();
  EXPECT_TRUE(all);
}

TEST_F(operator_results, S19_give_all_memory_back) {
  const auto before = dev.memory().value().used;
  {
    auto own = ctx.create_pool().value();
    tensor x = tensor::make(own, s, tensor_layout::make(element_type::f32, {64, 64}).value())
                   .value();
    s.fill_bytes(x.elements<float>(), 0).or_throw();
    for (int i = 0; i < 20; ++i) {
      x = apply_operator(s, own, {"matmul", {}, {}, {}}, std::array{x, x}).value();
    }
    s.synchronize().or_throw();
    EXPECT_GT(dev.memory().value().used, before);
  }
  EXPECT_EQ(dev.memory().value().used, before);
}

TEST_F(operator_results, S19_keep_a_bounded_number_of_prepared_operators) {
  const auto more = static_cast<std::int64_t>(prepared_operators_max) + 10;
  for (std::int64_t i = 1; i <= more; ++i) {
    const std::array x{zeros(element_type::f32, {1, i})};
    ASSERT_THAT(apply_operator(s, memory, {"relu", {}, {}, {}}, x), IsOk());
  }
  EXPECT_EQ(prepared_operators(), prepared_operators_max);
  EXPECT_THAT(s.synchronize(), IsOk());
}

} // namespace
} // namespace troupe
