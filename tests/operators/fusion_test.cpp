#include "core/fusion/fusion.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "core/operators/inference.hpp"
#include "tests/support/status_matchers.hpp"

namespace troupe {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

tensor_layout f32(dimensions shape) {
  return tensor_layout::make(element_type::f32, std::move(shape)).value();
}

class fusion : public ::testing::Test {
protected:
  std::uint32_t given(dimensions shape, bool constant = false) {
    return p.add({f32(std::move(shape)), constant, true});
  }
  std::uint32_t call(const std::string& name, std::vector<std::uint32_t> inputs) {
    return p.call(name, std::move(inputs)).value();
  }
  fused_program fused(const fusion_options& options = {}) { return fuse(p, options); }

  operator_program p;
};

TEST_F(fusion, matmul_bias_and_activation_become_one) {
  const auto product = call("matmul", {given({4, 8}), given({8, 16}, true)});
  const auto biased = call("bias_add", {product, given({16}, true)});
  const auto out = call("relu", {biased});
  p.tensors[out].kept = true;
  const auto made = fused();
  ASSERT_EQ(made.program.steps.size(), 1U);
  const auto& step = made.program.steps[0];
  EXPECT_EQ(step.output, out);
  ASSERT_EQ(step.posts.size(), 2U);
  EXPECT_EQ(step.posts[0].name, "bias_add");
  EXPECT_EQ(step.posts[0].axis, 1);
  EXPECT_EQ(step.posts[1].name, "relu");
  EXPECT_EQ(made.report.launches, 2U);
  EXPECT_EQ(made.report.bytes, 2U * 2U * 4U * 16U * 4U);
}

TEST_F(fusion, pairs_stop_at_two_and_none_does_nothing) {
  (void)call("relu", {call("bias_add", {call("matmul", {given({4, 8}), given({8, 16})}),
                                        given({16})})});
  EXPECT_EQ(fused({.level = fusion_level::pairs}).program.steps.size(), 2U);
  EXPECT_EQ(fused({.level = fusion_level::none}).program.steps, p.steps);
  EXPECT_EQ(fused({.matmul = false}).program.steps.size(), 2U); // bias_add and relu stay apart
}

TEST_F(fusion, a_reader_outside_is_named) {
  const auto product = call("matmul", {given({4, 8}), given({8, 16})});
  (void)call("relu", {product});
  p.tensors[product].kept = true;
  const auto kept = fused();
  ASSERT_EQ(kept.report.notes.size(), 1U);
  EXPECT_THAT(kept.report.notes[0].why_not, HasSubstr("reader outside"));
  EXPECT_EQ(kept.program.steps, p.steps);
  p.tensors[product].kept = false;
  (void)call("tanh", {product});
  const auto twice = fused();
  ASSERT_EQ(twice.report.notes.size(), 1U);
  EXPECT_THAT(twice.report.notes[0].why_not, HasSubstr("read 2 times"));
  EXPECT_EQ(twice.report.launches, 0U);
}

TEST_F(fusion, a_batch_norm_is_folded_into_constant_weights_only) {
  const auto image = given({1, 3, 8, 8});
  const auto weight = given({4, 3, 3, 3}, true);
  const auto normed = [&](std::uint32_t from, bool constant) {
    return call("batch_norm", {from, given({4}, constant), given({4}, constant),
                               given({4}, constant), given({4}, constant)});
  };
  const auto out = call("relu", {normed(call("conv2d", {image, weight}), true)});
  const auto made = fused();
  ASSERT_EQ(made.program.steps.size(), 1U);
  EXPECT_TRUE(made.program.steps[0].norm.has_value());
  EXPECT_EQ(made.program.steps[0].posts.size(), 1U);
  EXPECT_EQ(made.program.steps[0].output, out);
  p = {};
  (void)normed(call("conv2d", {given({1, 3, 8, 8}), given({4, 3, 3, 3})}), false);
  const auto refused = fused();
  ASSERT_EQ(refused.report.notes.size(), 1U);
  EXPECT_THAT(refused.report.notes[0].why_not, HasSubstr("not constant"));
}

TEST_F(fusion, a_sum_goes_to_the_first_product_and_runs_where_all_it_reads_is_there) {
  const auto x = given({4, 8});
  const auto first = call("matmul", {x, given({8, 16})});
  const auto second = call("matmul", {x, given({8, 16})});
  (void)call("relu", {call("add", {first, second})});
  const auto made = fused();
  ASSERT_EQ(made.program.steps.size(), 2U);
  EXPECT_EQ(made.program.steps[0].output, second);
  EXPECT_EQ(name_of(made.program.steps[1]), "matmul+add+relu");
  EXPECT_EQ(made.program.steps[1].posts.at(0).second, second);
}

TEST_F(fusion, a_sum_goes_to_a_product_rather_than_to_a_chain) {
  const auto chain = call("tanh", {call("relu", {given({4, 16})})});
  const auto product = call("matmul", {given({4, 8}), given({8, 16})});
  (void)call("add", {chain, product});
  const auto made = fused();
  ASSERT_EQ(made.program.steps.size(), 2U);
  EXPECT_EQ(name_of(made.program.steps[0]), "relu+tanh");
  EXPECT_EQ(name_of(made.program.steps[1]), "matmul+add");
  EXPECT_TRUE(made.program.steps[1].posts.at(0).reversed);
}

TEST_F(fusion, an_operator_reads_no_more_than_a_launch_may_name) {
  auto sum = given({4});
  for (std::size_t i = 0; i < operator_inputs_max; ++i) sum = call("add", {sum, given({4})});
  const auto made = fused();
  ASSERT_EQ(made.program.steps.size(), 2U);
  EXPECT_EQ(reads_of(made.program.steps[0]).size(), operator_inputs_max);
  EXPECT_THAT(made.report.notes.at(operator_inputs_max - 2).why_not,
              HasSubstr("read 9 tensors; the limit is 8"));
}

TEST_F(fusion, a_cast_goes_into_what_moves_elements) {
  const auto x = given({4, 8});
  const auto moved = p.call("transpose", {x}, {{"permutation", dimensions{1, 0}}}).value();
  ASSERT_THAT(p.call("cast", {moved}, {}, element_type::bf16), IsOk());
  const auto made = fused();
  ASSERT_EQ(made.program.steps.size(), 1U);
  EXPECT_EQ(name_of(made.program.steps[0]), "transpose+cast");
  EXPECT_EQ(fused({.casts = false}).program.steps.size(), 2U);
}

TEST_F(fusion, element_wise_chains_keep_the_side_and_the_type_of_each_step) {
  const auto x = given({16});
  const auto y = given({16});
  const auto half = p.call("cast", {call("sub", {y, call("tanh", {x})})}, {}, element_type::f16);
  ASSERT_THAT(half, IsOk());
  const auto made = fused();
  ASSERT_EQ(made.program.steps.size(), 1U);
  const auto& posts = made.program.steps[0].posts;
  ASSERT_EQ(posts.size(), 2U);
  EXPECT_TRUE(posts[0].reversed);
  EXPECT_EQ(posts[0].second, y);
  EXPECT_EQ(posts[1].type, element_type::f16);
  EXPECT_EQ(fused({.casts = false}).program.steps.size(), 2U);
}

TEST_F(fusion, what_grows_by_broadcasting_or_sums_integers_is_left) {
  (void)call("add", {call("relu", {given({1, 8})}), given({4, 8})});
  EXPECT_THAT(fused().report.notes.at(0).why_not, HasSubstr("incompatible shapes"));
  p = {};
  const auto s8 = [&](dimensions shape) {
    return p.add({tensor_layout::make(element_type::s8, std::move(shape)).value(), false, true});
  };
  (void)call("relu", {call("matmul", {s8({4, 8}), s8({8, 4})})});
  EXPECT_THAT(fused().report.notes.at(0).why_not, HasSubstr("incompatible types"));
}

TEST_F(fusion, a_program_that_names_no_tensor_is_refused) {
  EXPECT_THAT(p.call("relu", {3}),
              AllOf(HasCode(code::invalid_parameter), SaysThat("no tensor 3")));
  EXPECT_TRUE(p.steps.empty());
}

} // namespace
} // namespace troupe
