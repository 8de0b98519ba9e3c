#include "troupe/batcher.hpp"

#include <algorithm>
#include <mutex>

#include "actors/waiting.hpp"
#include "api/src/states.hpp"

namespace troupe::handles {
namespace {

// Requests that are done together. Its line reaches 1 when all of them have their outcome.
struct batch {
  std::vector<std::shared_ptr<batch_item>> items;
  const std::shared_ptr<timeline> line = std::make_shared<timeline>(0, timeline_of::signal);
  bool launched = false;
  bool begun = false;

  batch() { line->accept(1); }
};

status outcome_of_throw() {
  try {
    throw;
  } catch (const error& e) {
    if (!e.outcome().ok()) return e.outcome();
    return make_status(code::kernel_exception, "a batch threw a success");
  } catch (const std::exception& e) {
    return make_status(code::kernel_exception, std::string("a batch threw: ") + e.what());
  } catch (...) {
    return make_status(code::kernel_exception, "a batch threw something that is no exception");
  }
}

} // namespace

/// The requests of one batcher that wait or are being done.
class batch_queue : public std::enable_shared_from_this<batch_queue> {
public:
  batch_queue(stream on, const batch_options& options, batch_work work)
      : stream_(std::move(on)), options_(options), what_(std::string_view(options_.name)), work_(std::move(work)) {}

  status take(const std::shared_ptr<batch_item>& item, timeout limit);
  [[nodiscard]] batch_counters counters() const {
    const std::lock_guard lock(guard_);
    return counted_;
  }

private:
  // The right to do a batch, held by its task: whether that runs or is dropped, the batch ends.
  class duty {
  public:
    duty(std::shared_ptr<batch_queue> queue, std::shared_ptr<batch> of)
        : queue_(std::move(queue)), batch_(std::move(of)) {}
    ~duty() { queue_->end(batch_, dropped_); }
    duty(const duty&) = delete;
    duty& operator=(const duty&) = delete;

    void run() {
      dropped_ = {};
      queue_->run(*batch_);
    }
    void refuse(const status& why) { dropped_ = why; }

  private:
    const std::shared_ptr<batch_queue> queue_;
    const std::shared_ptr<batch> batch_;
    status dropped_ = make_status(code::stream_abort, "the batch was aborted before it ran");
  };

  [[nodiscard]] machine& home() const { return *stream_.state()->home; }
  status full() const;
  void launch(const std::shared_ptr<batch>& of);
  void run(batch& now);
  void end(const std::shared_ptr<batch>& of, const status& dropped);
  status give_up(batch& in, const std::shared_ptr<batch_item>& item, timeout limit);

  const stream stream_;
  const batch_options options_;
  const task what_;
  const batch_work work_;
  mutable std::mutex guard_; // of all below
  std::shared_ptr<batch> gathering_;
  std::shared_ptr<batch> newest_; // launched last, until it has ended
  std::size_t held_ = 0;
  batch_counters counted_;
};

status batch_queue::full() const {
  error_record record;
  record.what = code::queue_full;
  record.message = "the batcher '" + options_.name + "' holds " +
                   std::to_string(options_.queue_max) + " requests, its limit";
  record.stream = stream_.id();
  record.lacking = shortage{"batched requests", 1, options_.queue_max, options_.queue_max};
  return status(std::move(record));
}

status batch_queue::take(const std::shared_ptr<batch_item>& item, timeout limit) {
  if (auto s = may_call(home(), "batcher::request"); !s.ok()) return s;
  const auto deadline = deadline_after(home(), limit.count());
  if (!deadline) return deadline.error();
  std::shared_ptr<batch> mine;
  std::shared_ptr<batch> before;
  bool first = false;
  bool complete = false;
  {
    const std::lock_guard lock(guard_);
    if (held_ >= options_.queue_max) {
      ++counted_.refused;
      return full();
    }
    ++held_;
    ++counted_.requests;
    first = gathering_ == nullptr;
    if (first) gathering_ = std::make_shared<batch>();
    mine = gathering_;
    before = newest_;
    mine->items.push_back(item);
    complete = before == nullptr || mine->items.size() >= options_.batch_max;
    if (complete) gathering_.reset();
  }
  if (complete) {
    launch(mine);
  } else if (first) {
    // Whoever came first sees to it that the batch is launched in the end.
    const auto patience = after(home().time().now(), options_.delay_max.count() * 1'000);
    (void)wait_for_number(home().room(), *before->line, 1, std::min(patience, deadline.value()));
    bool still_gathers = false;
    {
      const std::lock_guard lock(guard_);
      still_gathers = gathering_ == mine;
      if (still_gathers) gathering_.reset();
    }
    if (still_gathers) launch(mine);
  }
  if (wait_for_number(home().room(), *mine->line, 1, deadline.value()) == wait_end::reached) {
    return item->outcome;
  }
  return give_up(*mine, item, limit);
}

status batch_queue::give_up(batch& in, const std::shared_ptr<batch_item>& item, timeout limit) {
  const std::lock_guard lock(guard_);
  ++counted_.expired;
  if (!in.begun) {
    if (std::erase(in.items, item) != 0) --held_;
  }
  return make_status(code::wait_timeout, "the batcher '" + options_.name +
                                             "' had no answer within " +
                                             std::to_string(limit.count()) + " ms");
}

// Under no lock: others may act meanwhile.
void batch_queue::launch(const std::shared_ptr<batch>& of) {
  {
    const std::lock_guard lock(guard_);
    newest_ = of;
    ++counted_.batches;
    counted_.largest = std::max<std::uint64_t>(counted_.largest, of->items.size());
  }
  const auto doing = std::make_shared<duty>(shared_from_this(), of);
  auto on = stream_;
  if (auto s = on.launch(what_, [doing] { doing->run(); }); !s.ok()) doing->refuse(s);
}

void batch_queue::run(batch& now) {
  std::vector<std::shared_ptr<batch_item>> items;
  {
    const std::lock_guard lock(guard_);
    now.begun = true;
    items = now.items;
  }
  if (items.empty()) return; // all were given up on
  status outcome;
  try {
    work_(items);
  } catch (...) {
    outcome = outcome_of_throw();
  }
  for (const auto& each : items) each->outcome = outcome;
}

void batch_queue::end(const std::shared_ptr<batch>& of, const status& dropped) {
  {
    const std::lock_guard lock(guard_);
    of->begun = true;
    if (!dropped.ok()) {
      for (const auto& each : of->items) each->outcome = dropped;
    }
    held_ -= of->items.size();
    if (newest_ == of) newest_.reset();
  }
  (void)of->line->complete(1);
}

result<std::shared_ptr<batch_queue>> make_batch_queue(stream on, const batch_options& options,
                                                      batch_work work) {
  constexpr std::size_t most = 65'536;
  if (!on.state()) return make_status(code::invalid_handle, "the stream handle is empty");
  if (options.batch_max == 0 || options.batch_max > most || options.queue_max == 0 ||
      options.delay_max.count() < 0 || options.name.empty()) {
    return make_status(code::invalid_parameter,
                       "a batcher with batch_max " + std::to_string(options.batch_max) +
                           " (1 to 65536), queue_max " + std::to_string(options.queue_max) +
                           " (at least 1), delay_max " +
                           std::to_string(options.delay_max.count()) +
                           " us (at least 0), and name '" + options.name + "' (not empty)");
  }
  return std::make_shared<batch_queue>(std::move(on), options, std::move(work));
}

status do_in_batch(batch_queue& queue, const std::shared_ptr<batch_item>& item, timeout limit) {
  return queue.take(item, limit);
}

batch_counters counters_of(const batch_queue& queue) { return queue.counters(); }

} // namespace troupe::handles
