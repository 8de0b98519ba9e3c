#include "examples/digits/operators.hpp"

#include <algorithm>
#include <cmath>
#include <random>
#include <thread>

#include <gmock/gmock.h>

/// The operators against the plainest loops that compute the same.
namespace troupe::digits {
namespace {

std::vector<float> some_numbers(std::size_t count, unsigned seed) {
  std::mt19937 engine(seed);
  std::normal_distribution<float> next;
  std::vector<float> made(count);
  for (auto& each : made) each = next(engine);
  return made;
}

std::vector<float> run(const tensor_operator& op, const std::vector<float>& input,
                       const std::vector<float>& plain_weight = {}) {
  std::vector<float> output(op.output_floats());
  std::vector<float> prepared;
  std::vector<std::span<const float>> weights;
  if (op.weight_count() == 1) {
    prepared = op.prepare_weight(0, plain_weight);
    weights.emplace_back(prepared);
  }
  op.run(input, weights, output);
  return output;
}

MATCHER_P(IsNear, expected, "") {
  if (arg.size() != expected.size()) return false;
  for (std::size_t i = 0; i < arg.size(); ++i) {
    if (std::abs(arg[i] - expected[i]) > 1e-4F * (1 + std::abs(expected[i]))) {
      *result_listener << "at " << i << ": " << arg[i] << " instead of " << expected[i];
      return false;
    }
  }
  return true;
}

std::size_t size(std::int64_t n) { return static_cast<std::size_t>(n); }

/// Place of a number in NHWC order.
std::size_t at(const image_shape& s, std::int64_t n, std::int64_t h, std::int64_t w,
               std::int64_t c) {
  return size(((n * s.height + h) * s.width + w) * s.channels + c);
}

std::size_t floats(const image_shape& s) { return size(s.batch * s.height * s.width * s.channels); }

template <class Visit>
void for_each_place(const image_shape& s, Visit visit) {
  for (std::int64_t n = 0; n < s.batch; ++n)
    for (std::int64_t h = 0; h < s.height; ++h)
      for (std::int64_t w = 0; w < s.width; ++w)
        for (std::int64_t c = 0; c < s.channels; ++c) visit(n, h, w, c);
}

struct image_operators : testing::TestWithParam<image_shape> {
  image_shape shape = GetParam();
  std::vector<float> input = some_numbers(floats(shape), 1);
};

TEST_P(image_operators, conv2d_sums_products_with_zeros_around_the_image) {
  constexpr std::int64_t kernel = 5;
  constexpr std::int64_t half = kernel / 2;
  const image_shape out{shape.batch, shape.height, shape.width, 6};
  const auto weight = some_numbers(size(out.channels * shape.channels * kernel * kernel), 2);
  std::vector<float> expected(floats(out));
  for_each_place(out, [&](auto n, auto h, auto w, auto o) {
    double sum = 0;
    for_each_place({1, kernel, kernel, shape.channels}, [&](auto, auto r, auto q, auto c) {
      const auto y = h + r - half;
      const auto x = w + q - half;
      if (y < 0 || y >= shape.height || x < 0 || x >= shape.width) return;
      sum += double{input[at(shape, n, y, x, c)]} *
             double{weight[size(((o * shape.channels + c) * kernel + r) * kernel + q)]};
    });
    expected[at(out, n, h, w, o)] = static_cast<float>(sum);
  });
  EXPECT_THAT(run(conv2d(shape, out.channels, kernel), input, weight), IsNear(expected));
}

TEST_P(image_operators, bias_adds_one_number_per_channel) {
  const auto weight = some_numbers(size(shape.channels), 3);
  auto expected = input;
  for_each_place(shape, [&](auto n, auto h, auto w, auto c) {
    expected[at(shape, n, h, w, c)] += weight[size(c)];
  });
  EXPECT_THAT(run(bias(shape), input, weight), IsNear(expected));
}

TEST_P(image_operators, max_pool_takes_the_largest_of_each_square) {
  const image_shape out{shape.batch, shape.height / 2, shape.width / 2, shape.channels};
  std::vector<float> expected(floats(out));
  for_each_place(out, [&](auto n, auto h, auto w, auto c) {
    expected[at(out, n, h, w, c)] = std::max(
        {input[at(shape, n, 2 * h, 2 * w, c)], input[at(shape, n, 2 * h, 2 * w + 1, c)],
         input[at(shape, n, 2 * h + 1, 2 * w, c)], input[at(shape, n, 2 * h + 1, 2 * w + 1, c)]});
  });
  EXPECT_THAT(run(max_pool(shape), input), IsNear(expected));
}

TEST_P(image_operators, relu_cuts_below_zero) {
  auto expected = input;
  for (auto& each : expected) each = std::max(each, 0.0F);
  EXPECT_THAT(run(relu(static_cast<std::int64_t>(input.size())), input), IsNear(expected));
}

INSTANTIATE_TEST_SUITE_P(shapes, image_operators,
                         testing::Values(image_shape{2, 28, 28, 1}, image_shape{3, 14, 12, 8},
                                         image_shape{1, 6, 4, 3}));

TEST(operators, matmul_multiplies_rows_with_columns) {
  constexpr std::int64_t rows = 3, in = 37, out = 10;
  const auto input = some_numbers(rows * in, 4);
  const auto weight = some_numbers(in * out, 5);
  std::vector<float> expected(rows * out);
  for_each_place({1, rows, out, 1}, [&](auto, auto r, auto o, auto) {
    double sum = 0;
    for (std::int64_t i = 0; i < in; ++i) {
      sum += double{input[size(r * in + i)]} * double{weight[size(i * out + o)]};
    }
    expected[size(r * out + o)] = static_cast<float>(sum);
  });
  EXPECT_THAT(run(matmul(rows, in, out), input, weight), IsNear(expected));
}

TEST(operators, softmax_gives_shares_of_exponentials_row_by_row) {
  constexpr std::int64_t rows = 2, classes = 10;
  const auto input = some_numbers(rows * classes, 6);
  auto expected = input;
  for (std::int64_t r = 0; r < rows; ++r) {
    const auto row = std::span(expected).subspan(size(r * classes), classes);
    float sum = 0;
    for (auto& each : row) sum += each = std::exp(each);
    for (auto& each : row) each /= sum;
  }
  EXPECT_THAT(run(softmax(rows, classes), input), IsNear(expected));
}

TEST(operators, one_operator_serves_several_threads_at_once) {
  const image_shape shape{4, 14, 14, 8};
  const conv2d op(shape, 16, 5);
  const auto weight = some_numbers(std::size_t{16} * 8 * 25, 7);
  std::vector<std::vector<float>> inputs;
  std::vector<std::vector<float>> expected;
  for (unsigned i = 0; i < 3; ++i) {
    inputs.push_back(some_numbers(floats(shape), i));
    expected.push_back(run(op, inputs.back(), weight));
  }
  std::vector<std::vector<float>> got(inputs.size());
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    threads.emplace_back([&, i] {
      for (int turn = 0; turn < 20; ++turn) got[i] = run(op, inputs[i], weight);
    });
  }
  for (auto& each : threads) each.join();
  EXPECT_EQ(got, expected);
}

} // namespace
} // namespace troupe::digits
