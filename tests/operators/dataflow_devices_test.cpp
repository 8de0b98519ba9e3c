#include "troupe/operators/dataflow.hpp"

#include <array>
#include <numeric>
#include <random>
#include <set>

#include "tests/support/stage.hpp"
#include "troupe/operators/run_operator.hpp"

/// Dataflow over several devices: results as on one, whatever was copied where.
namespace troupe {
namespace {

using word = std::uint32_t;

// Three devices, all but the first with little memory.
runtime_options uneven_devices() {
  auto made = test_options(3);
  for (std::size_t i = 1; i < 3; ++i) made.devices[i].memory_bytes = std::uint64_t{24} << 20;
  return made;
}

struct wide_flows : stage_test {
  wide_flows() : stage_test(uneven_devices()) {}

  std::vector<context> homes = [this] {
    std::vector<context> made{ctx};
    for (int i = 1; i < 3; ++i) made.push_back(rt.device(i).value().create_context().value());
    return made;
  }();
  dataflow flow = dataflow::make(homes, {.streams = 2}).value();

  tensor words(std::int64_t count, word value = 0, std::size_t place = 0) {
    auto layout = tensor_layout::make(element_type::s32, {count}).value();
    auto made = tensor::make(homes.at(place), std::move(layout)).value();
    fill(made, value);
    return made;
  }

  void fill(const tensor& what, word value) {
    ctx.copy(what.elements<word>(), std::vector<word>(what.elements<word>().size(), value))
        .or_throw();
  }

  std::vector<word> take(const tensor& from) {
    std::vector<word> values(from.elements<word>().size());
    ctx.copy(values, from.elements<word>()).or_throw();
    return values;
  }

  // Adds `factor * from + 1` to `to`; on any device.
  status add(const tensor& from, const tensor& to, word factor = 1) {
    const auto kernel = [factor, count = from.elements<word>().size()](const node_memory& at) {
      const auto* source = reinterpret_cast<const word*>(at.reads[0]);
      auto* target = reinterpret_cast<word*>(at.writes[0]);
      for (std::size_t i = 0; i < count; ++i) target[i] += factor * source[i] + 1;
    };
    return flow.submit("add", kernel, std::array{from, to}, {&to, 1});
  }

  // Copies the first word; on any device.
  static void pass_on(const node_memory& at) {
    *reinterpret_cast<word*>(at.writes[0]) = *reinterpret_cast<const word*>(at.reads[0]);
  }

  // Later nodes wait until it is raised.
  signal hold_back() {
    auto door = rt.create_signal();
    const auto opened = ctx.create_event().value();
    s.wait(door).or_throw();
    s.record(opened).or_throw();
    flow.after(opened).or_throw();
    return door;
  }
};

TEST_F(wide_flows, S12_a_chain_stays_where_its_bytes_lie) {
  const auto x = words(64, 1, 1);
  const auto y = words(64, 0, 1);
  for (int i = 0; i < 3; ++i) ASSERT_THAT(add(x, y), IsOk());
  ASSERT_THAT(flow.wait_all(), IsOk());
  EXPECT_EQ(take(y), std::vector<word>(64, 6));
  EXPECT_EQ(flow.counters().copies, 0U);
}

TEST_F(wide_flows, S12_copies_what_a_node_reads_of_another_device) {
  const auto x = words(16, 2, 0);
  const auto y = words(64, 0, 1);
  const auto kernel = [](const node_memory& at) {
    *reinterpret_cast<word*>(at.writes[0]) = 5 * *reinterpret_cast<const word*>(at.reads[0]);
  };
  ASSERT_THAT(flow.submit("far", kernel, {&x, 1}, {&y, 1}), IsOk());
  ASSERT_THAT(flow.wait(y), IsOk());
  EXPECT_EQ(take(y)[0], 10U);
  EXPECT_EQ(flow.counters().copies, 1U);
  EXPECT_EQ(flow.counters().copied_bytes, 64U);
  EXPECT_EQ(flow.counters().submitted, 1U);
  EXPECT_EQ(flow.counters().concluded, 1U);
}

TEST_F(wide_flows, S12_independent_nodes_spread_and_their_results_come_back) {
  std::vector<tensor> all;
  for (int i = 0; i < 30; ++i) all.push_back(words(16, static_cast<word>(i)));
  for (const auto& each : all) {
    const auto kernel = [](const node_memory& at) { ++*reinterpret_cast<word*>(at.writes[0]); };
    ASSERT_THAT(flow.submit("one", kernel, {&each, 1}, {&each, 1}), IsOk());
  }
  ASSERT_THAT(flow.wait_all(), IsOk());
  for (word i = 0; i < 30; ++i) EXPECT_EQ(take(all[i])[0], i + 1);
}

TEST_F(wide_flows, S12_work_leaves_a_device_that_has_too_much) {
  const auto door = rt.create_signal(); // holds back the lanes of device 0
  const auto opened = ctx.create_event().value();
  s.wait(door).or_throw();
  s.record(opened).or_throw();
  ASSERT_THAT(flow.after(opened), IsOk());
  const std::array busy{words(1), words(1)};
  for (int i = 0; i < 4; ++i) {
    ASSERT_THAT(flow.submit("busy", [] {}, {}, {&busy[static_cast<std::size_t>(i % 2)], 1}), IsOk());
  }
  const auto x = words(16, 7);
  const auto kernel = [](const node_memory& at) { ++*reinterpret_cast<word*>(at.writes[0]); };
  ASSERT_THAT(flow.submit("one", kernel, {&x, 1}, {&x, 1}), IsOk());
  EXPECT_EQ(flow.counters().copies, 2U); // there and back
  door.raise();
  ASSERT_THAT(flow.wait_all(), IsOk());
  EXPECT_EQ(take(x)[0], 8U);
}

TEST_F(wide_flows, S12_a_copy_serves_until_the_tensor_is_written) {
  flow = dataflow::make(homes, {.streams = 4}).value(); // so that no queue is too long
  const auto x = words(64, 3);
  std::array<tensor, 3> far;
  for (auto& each : far) each = words(256, 0, 1);
  const auto door = hold_back();
  ASSERT_THAT(flow.submit("one", pass_on, {&x, 1}, {&far[0], 1}), IsOk());
  ASSERT_THAT(flow.submit("two", pass_on, {&x, 1}, {&far[1], 1}), IsOk());
  EXPECT_EQ(flow.counters().copies, 1U);
  const auto nine = [at = reinterpret_cast<word*>(x.bytes().data())] { *at = 9; };
  ASSERT_THAT(flow.submit("write", nine, {}, {&x, 1}), IsOk());
  ASSERT_THAT(flow.submit("three", pass_on, {&x, 1}, {&far[2], 1}), IsOk());
  EXPECT_EQ(flow.counters().copies, 2U);
  door.raise();
  ASSERT_THAT(flow.wait_all(), IsOk());
  EXPECT_EQ(take(far[0])[0], 3U);
  EXPECT_EQ(take(far[1])[0], 3U);
  EXPECT_EQ(take(far[2])[0], 9U);
}

// Its memory may be freed and another's while the copy is in use.
TEST_F(wide_flows, S12_a_copy_of_a_view_serves_its_node_alone) {
  flow = dataflow::make(homes, {.streams = 4}).value();
  const auto x = words(64, 3);
  const auto& there = x.bytes();
  const auto seen = tensor::view({there.data(), there.size(), there.context_id()}, x.layout()).value();
  std::array<tensor, 2> far;
  for (auto& each : far) each = words(256, 0, 1);
  const auto door = hold_back();
  ASSERT_THAT(flow.submit("one", pass_on, {&seen, 1}, {&far[0], 1}), IsOk());
  ASSERT_THAT(flow.submit("two", pass_on, {&seen, 1}, {&far[1], 1}), IsOk());
  EXPECT_EQ(flow.counters().copies, 2U);
  door.raise();
  ASSERT_THAT(flow.wait_all(), IsOk());
  for (const auto& each : far) EXPECT_EQ(take(each)[0], 3U);
}

TEST_F(wide_flows, S12_sees_what_the_program_wrote_meanwhile) {
  const auto x = words(16, 1);
  const auto y = words(64, 0, 1);
  for (word value = 1; value < 5; ++value) {
    fill(x, value);
    ASSERT_THAT(flow.submit("far", pass_on, {&x, 1}, {&y, 1}), IsOk());
    ASSERT_THAT(flow.wait(y), IsOk()); // then nobody reads x any more
    EXPECT_EQ(take(y)[0], value);
  }
  EXPECT_EQ(flow.counters().copies, 4U);
}

TEST_F(wide_flows, S12_constants_are_copied_once) {
  const auto x = words(16, 4);
  const auto y = words(64, 0, 1);
  ASSERT_THAT(flow.constant(x), IsOk());
  for (int i = 0; i < 3; ++i) {
    ASSERT_THAT(flow.submit("far", [](const node_memory&) {}, {&x, 1}, {&y, 1}), IsOk());
    ASSERT_THAT(flow.wait_all(), IsOk());
  }
  EXPECT_EQ(flow.counters().copies, 1U);
  const device_span<std::byte> bytes(x.bytes().data(), x.bytes().size(), ctx.id());
  EXPECT_THAT(flow.constant(tensor::view(bytes, x.layout()).value()),
              SaysThat("a view is no constant"));
}

TEST_F(wide_flows, S12_copies_of_memory_that_has_a_new_owner_are_not_used) {
  const auto y = words(64, 0, 1);
  std::set<const std::byte*> seen;
  for (word value = 1; value < 6; ++value) {
    const auto x = words(16, value); // commonly where the one before was
    seen.insert(x.bytes().data());
    ASSERT_THAT(flow.constant(x), IsOk());
    ASSERT_THAT(flow.submit("far", pass_on, {&x, 1}, {&y, 1}), IsOk());
    ASSERT_THAT(flow.wait_all(), IsOk());
    EXPECT_EQ(take(y)[0], value);
  }
  EXPECT_LT(seen.size(), 5U) << "no address came again: the test tests nothing";
}

TEST_F(wide_flows, S12_a_node_that_writes_a_part_of_what_it_reads_runs_where_that_lies) {
  const auto x = words(16, 1);
  const auto layout = tensor_layout::make(element_type::s32, {8}).value();
  const auto part =
      tensor::view(device_span<std::byte>(x.bytes().data(), 32, ctx.id()), layout).value();
  const auto big = words(256, 0, 1);
  const auto kernel = [](const node_memory& at) {
    *reinterpret_cast<word*>(at.writes[0]) = 77;
    EXPECT_EQ(*reinterpret_cast<const word*>(at.reads[0]), 77U); // it sees its own write
  };
  ASSERT_THAT(flow.submit("part", kernel, std::array{x, big}, {&part, 1}), IsOk());
  ASSERT_THAT(flow.wait_all(), IsOk());
  EXPECT_EQ(take(x)[0], 77U);
  EXPECT_EQ(flow.counters().copies, 1U); // of the big one
}

TEST_F(wide_flows, S12_a_failure_marks_what_depends_on_it_on_other_devices) {
  const auto x = words(16, 1);
  const auto y = words(64, 0, 1);
  const auto z = words(128, 0, 2);
  const auto broken = [] { return make_status(code::invalid_parameter, "broken on purpose"); };
  ASSERT_THAT(flow.submit("broken", broken, {}, {&x, 1}), IsOk());
  ASSERT_THAT(flow.submit("far", [](const node_memory&) {}, {&x, 1}, {&y, 1}), IsOk());
  ASSERT_THAT(flow.submit("farther", [](const node_memory&) {}, {&y, 1}, {&z, 1}), IsOk());
  EXPECT_THAT(flow.wait(x), SaysThat("broken on purpose"));
  const auto last = flow.wait(z);
  EXPECT_THAT(last, SaysThat("'farther' was not run: it needs what 'broken' did not deliver"));
  EXPECT_THAT(last, HasCode(code::invalid_parameter));
  EXPECT_EQ(flow.counters().failed, 1U);
  EXPECT_EQ(flow.counters().skipped, 2U);
  EXPECT_THAT(flow.wait_all(), SaysThat("broken on purpose"));
  EXPECT_THAT(flow.wait_all(), IsOk());
}

TEST_F(wide_flows, S12_a_result_that_failed_elsewhere_fails_where_it_is_awaited) {
  const auto x = words(16, 1);
  const auto y = words(64, 0, 1);
  const auto broken = [](const node_memory&) {
    return make_status(code::invalid_parameter, "broken far away");
  };
  ASSERT_THAT(flow.submit("broken", broken, {&y, 1}, {&x, 1}), IsOk()); // runs at y, x comes back
  EXPECT_THAT(flow.wait(x), SaysThat("broken far away"));
  const auto set = [](const node_memory& at) { *reinterpret_cast<word*>(at.writes[0]) = 6; };
  ASSERT_THAT(flow.submit("good", set, {&y, 1}, {&x, 1}), IsOk());
  EXPECT_THAT(flow.wait(x), IsOk());
  EXPECT_EQ(take(x)[0], 6U);
}

// Random programs over tensors of all devices, against the same one step after the other.
TEST_F(wide_flows, S12_random_programs_give_what_they_give_on_one_device) {
  constexpr std::size_t count = 8;
  for (unsigned seed = 1; seed <= 6; ++seed) {
    std::minstd_rand chance(seed);
    std::vector<tensor> tensors;
    std::vector<word> eager(count);
    for (std::size_t i = 0; i < count; ++i) {
      eager[i] = static_cast<word>(i);
      tensors.push_back(words(16, static_cast<word>(i), i % 3));
    }
    for (int step = 0; step < 80; ++step) {
      const auto from = chance() % count;
      const auto to = chance() % count;
      const auto factor = static_cast<word>(chance());
      eager[to] += factor * eager[from] + 1;
      ASSERT_THAT(add(tensors[from], tensors[to], factor), IsOk());
      if (chance() % 16 != 0) continue;
      ASSERT_THAT(flow.wait_all(), IsOk());
      const auto changed = chance() % count;
      eager[changed] = static_cast<word>(chance());
      fill(tensors[changed], eager[changed]);
    }
    ASSERT_THAT(flow.wait_all(), IsOk());
    for (std::size_t i = 0; i < count; ++i) {
      EXPECT_EQ(take(tensors[i]), std::vector<word>(16, eager[i])) << seed << ' ' << i;
    }
  }
  EXPECT_GT(flow.counters().copies, 100U);
}

TEST_F(wide_flows, S12_operators_give_what_they_give_on_a_stream) {
  pool memory = ctx.create_pool().value();
  const auto layout = tensor_layout::make(element_type::f32, {8, 8}).value();
  std::vector<float> values(64);
  std::iota(values.begin(), values.end(), -32.F);
  std::array<tensor, 3> x;
  for (std::size_t i = 0; i < x.size(); ++i) {
    x[i] = tensor::make(homes[i], layout).value();
    ctx.copy(x[i].elements<float>(), values).or_throw();
  }
  const auto network = [&](auto&& apply, auto&& input) {
    std::vector<tensor> parts;
    for (const auto* name : {"relu", "tanh", "sigmoid"}) {
      auto part = apply(operator_description{name, {}, {}, {}}, std::vector{input(parts.size())});
      parts.push_back(
          apply(operator_description{"matmul", {}, {}, {}}, std::vector{part, input(2)}));
    }
    auto sum = apply(operator_description{"add", {}, {}, {}}, std::vector{parts[0], parts[1]});
    return apply(operator_description{"sub", {}, {}, {}}, std::vector{sum, parts[2]});
  };
  const auto eager = network(
      [&](auto what, auto inputs) {
        return apply_operator(s, memory, std::move(what), inputs).value();
      },
      [&](std::size_t) { return x[0]; });
  const auto found =
      network([&](auto what, auto inputs) { return flow.apply(std::move(what), inputs).value(); },
              [&](std::size_t i) { return x[i]; });
  s.synchronize().or_throw();
  ASSERT_THAT(flow.wait(found), IsOk());
  EXPECT_EQ(take(found), take(eager));
  EXPECT_GT(flow.counters().copies, 0U);
}

TEST_F(wide_flows, S12_memory_of_copies_serves_again) {
  const auto y = words(4096, 0, 1);
  const auto kernel = [](const node_memory&) {};
  for (int i = 0; i < 100; ++i) {
    const auto x = words(1024);
    ASSERT_THAT(flow.submit("far", kernel, {&x, 1}, {&y, 1}), IsOk());
    ASSERT_THAT(flow.wait_all(), IsOk());
  }
  EXPECT_EQ(flow.counters().copies, 100U);
  EXPECT_LE(flow.memory(1).used, 2U * 4096);
  EXPECT_EQ(flow.memory(7).used, 0U);
}

TEST_F(wide_flows, S12_idle_copies_make_room_on_a_full_device) {
  constexpr std::int64_t third = (std::int64_t{8} << 20) / 4; // words; device 1 has 24 MiB
  const auto y = words(third, 0, 1);
  std::vector<tensor> all;
  for (int i = 0; i < 3; ++i) {
    all.push_back(words(third));
    ASSERT_THAT(flow.constant(all.back()), IsOk());
    ASSERT_THAT(flow.submit("far", [](const node_memory&) {}, std::array{all.back(), y}, {&y, 1}),
                IsOk());
    ASSERT_THAT(flow.wait_all(), IsOk());
  }
  EXPECT_EQ(flow.counters().copies, 3U);
}

TEST_F(wide_flows, S12_refuses_what_it_cannot_do_and_says_why) {
  const std::vector<context> none;
  EXPECT_THAT(dataflow::make(none).error(), SaysThat("no context"));
  EXPECT_THAT(dataflow::make(std::array{ctx, ctx}).error(), SaysThat("is named twice"));
  const std::array<std::int64_t, 2> devices{0, 9};
  EXPECT_THAT(dataflow::make(rt, devices).error(), HasCode(code::invalid_device));
  EXPECT_EQ(dataflow::make(rt).value().places(), 3U);
  EXPECT_EQ(dataflow::make(rt, std::span(devices).first(1)).value().places(), 1U);
  const auto x = words(1);
  const auto y = words(1, 0, 1);
  EXPECT_THAT(flow.submit("two", [] {}, {&x, 1}, {&y, 1}),
              SaysThat("'two': its tensors are memory of contexts"));
  EXPECT_THAT(flow.make_tensor(x.layout(), 3).error(), SaysThat("has no place 3; it has 3"));
  const auto foreign = tensor::make(dev.create_context().value(), x.layout()).value();
  EXPECT_THAT(flow.constant(foreign), SaysThat("a tensor is memory of context"));
  EXPECT_EQ(flow.counters().submitted, 0U);
}

} // namespace
} // namespace troupe
