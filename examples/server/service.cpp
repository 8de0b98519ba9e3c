#include "examples/server/service.hpp"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include <gsl/gsl>

namespace troupe::server {

namespace {

/// Powers of two up to `largest`, and that: no batch is padded to more than twice its size.
networks make_networks(std::size_t largest, const digits::weight_set& weights) {
  networks made;
  for (std::size_t size = 1; size < largest; size *= 2) made[size] = nullptr;
  made[largest] = nullptr;
  for (auto& [size, net] : made) {
    net = std::make_shared<const digits::network>(gsl::narrow<std::int64_t>(size), weights);
  }
  return made;
}

} // namespace

service::service(const runtime& home, const device& where, const digits::weight_set& weights,
                 const service_options& options)
    : options_(options),
      nets_(make_networks(options.batch_max, weights)),
      room_(options.lanes, options.queue_max) {
  Expects(options.lanes >= 1 && options.batch_max >= 1 && options.queue_max >= 1);
  try {
    for (std::size_t index = 0; index < options.lanes; ++index) {
      lanes_.emplace_back(home, where, nets_, count_);
    }
    for (std::size_t index = 0; index < options.lanes; ++index) {
      threads_.emplace_back([this, index] {
        for (auto batch = room_.take(index, options_.batch_max); !batch.empty();
             batch = room_.take(index, options_.batch_max)) {
          lanes_[index].serve(batch);
        }
      });
    }
  } catch (...) {
    drain();
    throw;
  }
}

service::~service() {
  drain();
}

answer service::classify(std::span<const float> image, clock::time_point deadline,
                         const std::function<bool()>& gone) {
  const auto begun = clock::now();
  const auto made = std::make_shared<request>(image, deadline);
  const auto given = [&]() -> answer {
    const auto [entered, lent] = room_.enter(made);
    switch (entered) {
      case waiting_room::entry::full:
        return {verdict::overloaded, {},
                std::to_string(room_.places()) + " requests wait already, the limit"};
      case waiting_room::entry::closed:
        return {verdict::draining, {}, "the server is about to end"};
      case waiting_room::entry::admitted:
        break;
    }
    if (lent != waiting_room::no_lane) {
      const auto done = lanes_[lent].try_one(made, gone);
      room_.give_back(lent, done ? nullptr : made);
    }
    return made->wait(gone);
  }();
  count_.count(given.what,
               std::chrono::duration_cast<std::chrono::microseconds>(clock::now() - begun));
  return given;
}

void service::drain() {
  room_.close();
  const std::lock_guard lock(ending_);
  for (auto& each : threads_) each.join();
  threads_.clear();
}

} // namespace troupe::server
