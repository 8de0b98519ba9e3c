#include "troupe/operators/run_operator.hpp"

#include <cmath>
#include <fstream>

#include <nlohmann/json.hpp>

#include "tests/support/stage.hpp"

/// Operators on a device against what numpy computed (make_cases.py).
namespace troupe {
namespace {

// f32 against double: sums of at most some twenty products of numbers up to 2.
constexpr double tolerance = 2e-5;

tensor_layout layout_of(const nlohmann::json& from) {
  return tensor_layout::make(element_type::f32, from.at("shape").get<dimensions>()).value();
}

operator_description description_of(const nlohmann::json& from) {
  operator_description made;
  made.name = from.at("name");
  for (const auto& [name, value] : from.at("attributes").items()) {
    if (value.is_array()) {
      made.attributes[name] = value.get<dimensions>();
    } else if (value.is_number_float()) {
      made.attributes[name] = value.get<double>();
    } else {
      made.attributes[name] = value.get<std::int64_t>();
    }
  }
  return made;
}

struct operator_results : stage_test {
  pool memory = ctx.create_pool().value();

  template <class T>
  tensor put(tensor_layout layout, const std::vector<T>& values) {
    auto made = tensor::make(memory, s, std::move(layout)).value();
    s.copy(made.elements<T>(), values).or_throw();
    return made;
  }

  tensor put(dimensions shape, const std::vector<float>& values) {
    return put(tensor_layout::make(element_type::f32, std::move(shape)).value(), values);
  }

  tensor zeros(element_type type, dimensions shape) {
    auto layout = tensor_layout::make(type, std::move(shape)).value();
    auto made = tensor::make(memory, s, std::move(layout)).value();
    s.fill_bytes(made.bytes(), 0).or_throw();
    return made;
  }

  template <class T = float>
  std::vector<T> take(const tensor& from) {
    const auto place = from.elements<T>();
    std::vector<T> values(place.size());
    s.copy(values, place).or_throw();
    s.synchronize().or_throw();
    return values;
  }
};

TEST_F(operator_results, S19_compute_what_numpy_computes) {
  std::ifstream file(TROUPE_OPERATOR_CASES);
  const auto cases = nlohmann::json::parse(file);
  ASSERT_GE(cases.size(), 50U);
  for (const auto& each : cases) {
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
      ASSERT_NEAR(got[i], wanted[i], tolerance * (1 + std::abs(wanted[i])))
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
