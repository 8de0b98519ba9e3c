#include "examples/digits/pipeline.hpp"

#include <filesystem>
#include <memory>
#include <string_view>

#include <gmock/gmock.h>

#include "examples/digits/bare_loop.hpp"
#include "tests/support/status_matchers.hpp"

namespace troupe::digits {
namespace {

const std::filesystem::path data(DIGITS_DATA_DIR);

image_set first_images(std::size_t count) {
  auto images = load_image_set(data / "test_images.idx.gz", data / "test_labels.idx.gz");
  images.labels.resize(count);
  images.pixels.resize(count * image_pixels);
  return images;
}

std::shared_ptr<const network> make_network(std::int64_t batch) {
  return std::make_shared<const network>(batch, weight_set::load(data / "weights.bin"));
}

/// Sizes that leave the last batch short, streams idle, or buffer sets unused.
struct sizes {
  std::int64_t batch;
  std::size_t images;
  std::size_t streams;
  std::size_t buffers;
};

void PrintTo(const sizes& s, std::ostream* out) {
  *out << s.images << " images by " << s.batch << ", " << s.streams << " streams, " << s.buffers
       << " buffer sets";
}

class pipeline : public testing::TestWithParam<sizes> {
protected:
  static runtime_options one_device() {
    runtime_options options;
    options.devices.resize(1);
    options.compute_threads = 2;
    return options;
  }

  std::unique_ptr<pipeline_step> make(const pipeline_entry& entry) {
    return entry.make({home_, device_, net_, GetParam().streams, GetParam().buffers});
  }

  std::size_t batches() const { return (images_.size() + net_->batch() - 1) / net_->batch(); }

  image_set images_ = first_images(GetParam().images);
  std::shared_ptr<const network> net_ = make_network(GetParam().batch);
  runtime home_{one_device()};
  device device_ = home_.device(0).value();
};

TEST_P(pipeline, S12_every_step_answers_like_the_bare_loop_each_time_it_is_run) {
  const auto expected = run_bare_loop(*net_, images_).predictions;
  for (const auto& entry : pipeline_entries()) {
    SCOPED_TRACE(entry.name);
    const auto step = make(entry);
    for (int turn = 0; turn < 2; ++turn) {
      const auto given = step->run(images_);
      EXPECT_EQ(given.predictions, expected);
      EXPECT_EQ(given.latencies_ms.size(), batches());
    }
  }
  EXPECT_THAT(home_.diagnostics(), testing::IsEmpty());
  EXPECT_THAT(home_.shutdown(), IsOk());
}

TEST_P(pipeline, S14_counters_show_what_each_step_saves) {
  const auto operators = net_->steps().size();
  for (const auto& entry : pipeline_entries()) {
    SCOPED_TRACE(entry.name);
    const auto step = make(entry);
    (void)step->run(images_);
    const auto before = device_.counters();
    const auto pooled_before = step->pool_allocations();
    (void)step->run(images_);
    const auto after = device_.counters();
    const auto pooled = step->pool_allocations() - pooled_before;
    const auto allocated = after.allocations - before.allocations;
    const auto copied_in = after.dma_h2d.bytes - before.dma_h2d.bytes;
    const auto input_bytes = batches() * net_->tensors().front().floats * sizeof(float);
    const std::string_view name = entry.name;
    const bool described = name == "+ fused graph" || name == "+ async graphs" ||
                           name == "dataflow"; // the library's operators, which reshape as well
    const auto launches = batches() * (operators + (described ? 1 : 0));
    const auto saved = batches() * step->saved().launches;
    EXPECT_EQ(after.compute.commands - before.compute.commands, launches - saved);
    EXPECT_EQ(step->saved().launches, described && name != "dataflow" ? 7U : 0U);
    EXPECT_EQ(step->saved().bytes > 0, step->saved().launches > 0);
    if (name == "naive") {
      EXPECT_EQ(allocated, batches() * operators * 2);
      EXPECT_GT(copied_in, input_bytes);
      continue;
    }
    EXPECT_EQ(copied_in, input_bytes);
    if (name == "dataflow") {
      EXPECT_GE(pooled, launches); // and scratch memory
    } else {
      const bool lasting = described || name == "+ async";
      EXPECT_EQ(pooled, lasting ? 0 : batches() * (operators + 1));
    }
    // With several streams a pool may have to grow once more, when they happen to overlap more.
    if (name == "+ streams" || name == "dataflow") {
      EXPECT_LT(allocated, batches() * operators);
    } else {
      EXPECT_EQ(allocated, 0u);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(sizes, pipeline,
                         testing::Values(sizes{1, 9, 2, 4}, sizes{8, 61, 3, 5},
                                         sizes{32, 50, 4, 3}, sizes{16, 64, 1, 1}));

} // namespace
} // namespace troupe::digits
