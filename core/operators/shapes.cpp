#include "core/operators/shapes.hpp"

#include <algorithm>

#include "core/operators/attributes.hpp"

namespace troupe::operators {
namespace {

const dimensions& input(const operator_description& d, std::size_t index = 0) {
  return d.inputs.at(index).shape;
}

// Names both sides of a contradiction.
[[noreturn]] void refuse_pair(const operator_description& d, std::string_view argument,
                              const dimensions& given, std::string_view other,
                              const dimensions& against, const std::string& why) {
  refuse(d, "argument '" + std::string(argument) + "' has shape " + to_text(given) + " and '" +
                std::string(other) + "' has shape " + to_text(against) + ": " + why);
}

void require_vector(const operator_description& d, std::size_t index, std::string_view argument,
                    std::int64_t length) {
  if (input(d, index) == dimensions{length}) return;
  refuse_pair(d, argument, input(d, index), "input", input(d),
              "it must have shape " + to_text(dimensions{length}));
}

void require_rank(const operator_description& d, std::size_t index, std::string_view argument,
                  std::size_t least, std::size_t most) {
  const auto rank = input(d, index).size();
  if (rank >= least && rank <= most) return;
  refuse(d, "argument '" + std::string(argument) + "' has shape " + to_text(input(d, index)) +
                "; it has " + std::to_string(least) + " to " + std::to_string(most) +
                " dimensions");
}

dimensions moved_window(const operator_description& d, std::int64_t channels) {
  const auto w = window_of(d);
  dimensions made{input(d)[0], channels, 0, 0};
  for (std::size_t i = 0; i < 2; ++i) {
    const auto reach = (w.kernel[i] - 1) * w.dilation[i] + 1;
    const auto room = input(d)[i + 2] + w.padding[i] + w.padding[i + 2];
    const bool only_padding = d.name != "conv2d" &&
                              (w.padding[i] >= w.kernel[i] || w.padding[i + 2] >= w.kernel[i]);
    if (room < reach || only_padding) {
      refuse(d, "a window of " + to_text(w.kernel) + " with dilation " + to_text(w.dilation) +
                    " and padding " + to_text(w.padding) + " does not fit 'input' of shape " +
                    to_text(input(d)));
    }
    made[i + 2] = (room - reach) / w.strides[i] + 1;
  }
  return made;
}

} // namespace

dimensions same_shape(const operator_description& d) { return input(d); }

dimensions broadcast_shape(const operator_description& d) {
  const auto& left = input(d, 0);
  const auto& right = input(d, 1);
  dimensions made(std::max(left.size(), right.size()), 1);
  for (std::size_t i = 1; i <= made.size(); ++i) {
    const auto l = i <= left.size() ? left[left.size() - i] : 1;
    const auto r = i <= right.size() ? right[right.size() - i] : 1;
    if (l != r && l != 1 && r != 1) {
      refuse_pair(d, "right", right, "left", left, "they cannot be broadcast to each other");
    }
    made[made.size() - i] = std::max(l, r);
  }
  return made;
}

dimensions biased_shape(const operator_description& d) {
  const auto fallback = input(d).size() > 1 ? 1 : 0;
  require_vector(d, 1, "bias", input(d)[axis_of(d, "axis", whole(d, "axis", fallback))]);
  return input(d);
}

dimensions batch_norm_shape(const operator_description& d) {
  require_rank(d, 0, "input", 2, tensor_rank_max);
  std::size_t index = 1;
  for (const auto* name : {"scale", "shift", "mean", "variance"}) {
    require_vector(d, index++, name, input(d)[1]);
  }
  if (number(d, "epsilon", 1e-5) < 0) refuse(d, "attribute 'epsilon' is below 0");
  return input(d);
}

dimensions layer_norm_shape(const operator_description& d) {
  require_rank(d, 0, "input", 2, tensor_rank_max);
  require_vector(d, 1, "scale", input(d).back());
  require_vector(d, 2, "shift", input(d).back());
  if (number(d, "epsilon", 1e-5) < 0) refuse(d, "attribute 'epsilon' is below 0");
  return input(d);
}

dimensions softmax_shape(const operator_description& d) {
  static_cast<void>(axis_of(d, "axis", whole(d, "axis", -1)));
  return input(d);
}

dimensions convolved_shape(const operator_description& d) {
  require_rank(d, 0, "input", 4, 4);
  require_rank(d, 1, "weight", 4, 4);
  const auto& weight = input(d, 1);
  const auto groups = whole(d, "groups", 1);
  const auto channels = input(d)[1];
  if (groups < 1 || channels % groups != 0 || weight[0] % groups != 0 ||
      channels / groups != weight[1]) {
    refuse_pair(d, "weight", weight, "input", input(d),
                "the weight's channels times groups (" + std::to_string(groups) +
                    ") must be the input's, and its outputs a multiple of groups");
  }
  if (d.inputs.size() == 3) require_vector(d, 2, "bias", weight[0]);
  return moved_window(d, weight[0]);
}

dimensions pooled_shape(const operator_description& d) {
  require_rank(d, 0, "input", 4, 4);
  return moved_window(d, input(d)[1]);
}

dimensions product_shape(const operator_description& d) {
  require_rank(d, 0, "left", 2, tensor_rank_max);
  const auto& left = input(d, 0);
  const auto& right = input(d, 1);
  const auto rank = left.size();
  if (right.size() != rank || left[rank - 1] != right[rank - 2]) {
    refuse_pair(d, "right", right, "left", left,
                "both need the same rank, and left's columns must be right's rows");
  }
  auto made = left;
  made.back() = right.back();
  for (std::size_t i = 0; i + 2 < rank; ++i) {
    if (left[i] != right[i] && left[i] != 1 && right[i] != 1) {
      refuse_pair(d, "right", right, "left", left, "their batches differ");
    }
    made[i] = std::max(left[i], right[i]);
  }
  return made;
}

dimensions reduced_shape(const operator_description& d) {
  const auto reduced = reduced_axes(d);
  const bool keep = whole(d, "keep_dims", 1) != 0;
  dimensions made;
  for (std::size_t i = 0; i < reduced.size(); ++i) {
    if (!reduced[i]) made.push_back(input(d)[i]);
    if (reduced[i] && keep) made.push_back(1);
  }
  if (made.empty()) made.push_back(1);
  return made;
}

dimensions transposed_shape(const operator_description& d) {
  const auto order = list(d, "permutation");
  auto sorted = order;
  std::ranges::sort(sorted);
  dimensions made;
  for (std::size_t i = 0; i < sorted.size() && i < input(d).size(); ++i) {
    if (sorted[i] == static_cast<std::int64_t>(i)) {
      const auto from = order[i];
      if (from >= 0 && from < static_cast<std::int64_t>(input(d).size())) {
        made.push_back(input(d)[static_cast<std::size_t>(from)]);
      }
    }
  }
  if (sorted.size() != input(d).size() || made.size() != sorted.size()) {
    refuse(d, "attribute 'permutation' is " + to_text(order) +
                  "; it must name each dimension of 'input', of shape " + to_text(input(d)) +
                  ", once");
  }
  return made;
}

dimensions reshaped_shape(const operator_description& d) {
  auto made = list(d, "shape");
  const auto elements = d.inputs.front().elements();
  std::int64_t known = 1;
  for (const auto length : made) {
    if (length == -1) continue;
    if (length < 1 || length > elements / known) known = elements + 1;
    if (known > elements) break;
    known *= length;
  }
  const auto open = std::ranges::count(made, std::int64_t{-1});
  if (open > 1 || known > elements || (open == 1 ? elements % known != 0 : known != elements)) {
    refuse(d, "attribute 'shape' is " + to_text(made) + ", which does not hold the " +
                  std::to_string(elements) + " elements of 'input', of shape " +
                  to_text(input(d)));
  }
  std::ranges::replace(made, std::int64_t{-1}, elements / known);
  return made;
}

dimensions joined_shape(const operator_description& d) {
  const auto axis = axis_of(d, "axis", whole(d, "axis", 0));
  auto made = input(d);
  for (std::size_t i = 1; i < d.inputs.size(); ++i) {
    auto other = input(d, i);
    const auto length = other.size() == made.size() ? other[axis] : 0;
    if (other.size() == made.size()) other[axis] = made[axis];
    if (other != made) {
      refuse_pair(d, "input " + std::to_string(i), input(d, i), "input", input(d),
                  "all dimensions but " + std::to_string(axis) + " must be equal");
    }
    made[axis] += length;
  }
  return made;
}

} // namespace troupe::operators
