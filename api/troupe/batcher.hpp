#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/status.hpp"
#include "troupe/duration.hpp"
#include "troupe/stream.hpp"

namespace troupe {

/// How requests are gathered. Defaults serve many clients with requests of microseconds.
struct batch_options {
  std::string name = "batch";              ///< of the task that does a batch
  std::size_t batch_max = 32;              ///< requests of one batch, 1 to 65,536
  std::size_t queue_max = 1024;            ///< requests that wait or are being done, at least 1
  std::chrono::microseconds delay_max{200}; ///< a request waits for company no longer than this
};

/// What a batcher has done since it was made.
struct batch_counters {
  std::uint64_t requests = 0;  ///< accepted
  std::uint64_t batches = 0;   ///< launched
  std::uint64_t largest = 0;   ///< requests in one batch, the most
  std::uint64_t refused = 0;   ///< as the queue was full
  std::uint64_t expired = 0;   ///< given up on by who waited for them
};

namespace handles {

class batch_queue;

/// One request as the queue knows it, and what becomes of it.
struct batch_item {
  virtual ~batch_item() = default;
  status outcome; ///< set before its batch is told to be over
};

/// Does the work of a batch: all items are of the type that the batcher was made with.
using batch_work = std::function<void(const std::vector<std::shared_ptr<batch_item>>&)>;

[[nodiscard]] result<std::shared_ptr<batch_queue>> make_batch_queue(stream on,
                                                                    const batch_options& options,
                                                                    batch_work work);
[[nodiscard]] status do_in_batch(batch_queue& queue, const std::shared_ptr<batch_item>& item,
                                 timeout limit);
[[nodiscard]] batch_counters counters_of(const batch_queue& queue);

} // namespace handles

/// Merges the small requests of many clients into batches, each done by one task of a stream, where a
/// launch for each request would cost more than its work, and more streams than hardware slots would
/// only queue for these.
///
///     batcher<image, label> classify = batcher<image, label>::create(s, {}, run_network).value();
///     result<label> answer = classify.request(picture, 100ms);   // by any number of threads
///
/// While no batch is under way a request is launched at once, alone, so that a single client pays no
/// delay. Else it joins the batch that gathers, which is launched when the one before has ended, when
/// it is full, or when its first request has waited `delay_max`, whichever comes first.
///
/// A shared handle: copies are one batcher. The stream stays usable for others. Any thread.
template <class Request, class Answer>
class batcher {
public:
  /// What does a batch, on an engine of the stream's device: as many answers as requests, in their
  /// order. It is called for one batch at a time. What it throws is the outcome of all requests of
  /// that batch (507015, or the code of a `troupe::error`), and so is a wrong number of answers; the
  /// stream itself has no failure to report.
  using work = std::function<std::vector<Answer>(const std::vector<Request>&)>;

  /// Failures: 107000 for options outside their limits or a null `run`; 107017 for an empty stream.
  [[nodiscard]] static result<batcher> create(stream on, const batch_options& options, work run) {
    if (!run) return make_status(code::invalid_parameter, "a batcher without a function");
    auto made = handles::make_batch_queue(
        std::move(on), options,
        [run = std::move(run)](const std::vector<std::shared_ptr<handles::batch_item>>& items) {
          do_all(run, items);
        });
    if (!made) return made.error();
    return batcher(std::move(made).value());
  }

  /// Has `request` done in a batch and waits for its answer.
  ///
  /// Failures: what the batch failed with; 207014 at `queue_max` requests; 107019 when there is no
  /// answer within `limit` (the request is dropped if its batch has not begun, and its answer if it
  /// has); what the stream refuses submissions with; 107023 when the batch was aborted; 107000 for a
  /// bad limit; 100001 after shutdown; 207000 inside kernels and callbacks.
  [[nodiscard]] result<Answer> request(Request request, timeout limit = forever) const {
    const auto item = std::make_shared<entry>(std::move(request));
    if (auto s = handles::do_in_batch(*queue_, item, limit); !s.ok()) return s;
    return std::move(*item->answer);
  }

  [[nodiscard]] batch_counters counters() const { return handles::counters_of(*queue_); }

private:
  struct entry final : handles::batch_item {
    explicit entry(Request r) : request(std::move(r)) {}
    Request request;
    std::optional<Answer> answer;
  };

  explicit batcher(std::shared_ptr<handles::batch_queue> queue) noexcept
      : queue_(std::move(queue)) {}

  static void do_all(const work& run,
                     const std::vector<std::shared_ptr<handles::batch_item>>& items) {
    std::vector<Request> requests;
    requests.reserve(items.size());
    for (const auto& each : items) {
      requests.push_back(std::move(static_cast<entry&>(*each).request));
    }
    auto answers = run(requests);
    if (answers.size() != items.size()) {
      throw error(code::kernel_exception, "a batch of " + std::to_string(items.size()) +
                                              " requests got " + std::to_string(answers.size()) +
                                              " answers");
    }
    for (std::size_t i = 0; i < items.size(); ++i) {
      static_cast<entry&>(*items[i]).answer.emplace(std::move(answers[i]));
    }
  }

  std::shared_ptr<handles::batch_queue> queue_;
};

} // namespace troupe
