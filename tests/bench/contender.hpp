#pragma once

#include "tests/bench/row.hpp"

#include <functional>
#include <map>
#include <stdexcept>
#include <string>

namespace troupe::bench {

/// One repetition of a row: does the work and returns the figure of *this* repetition in the row's
/// unit (nanoseconds an operation, percent, bytes an item, images a second). Called again and again
/// in the same process; throws to report a failure.
using repetition = std::function<double()>;

/// Builds what a row needs (runtime, streams, buffers), outside of the measured time, and hands out
/// the repetition that owns it. Throws `unavailable` if the contender cannot work on this machine.
using setup = std::function<repetition(const workload&)>;

/// Something that can be measured: its name and the rows it has a sensible equivalent for. A row
/// that is missing here shows "-".
///
/// Every pair of contender and row runs in a child process of its own, which is stopped while it is
/// another's turn. So a contender may keep threads alive between repetitions, and whatever it
/// leaves behind ends with the row: destructors of what the repetition owns never run. Nothing may
/// start threads before `setup` is called (the harness forks).
///
/// A contender is a function that returns one; `bench_main.cpp` lists them. The figures of the
/// contender named "troupe" are the numerators of the ratio columns and what the limits judge:
///
///     contender troupe_contender() {
///       return {"troupe", {
///         {"launch_throughput", [](const workload& w) -> repetition {
///           auto rt = std::make_shared<runtime>();              // lives as long as the lambda
///           auto s = rt->device(0).create_stream();
///           return [rt, s, w] {
///             return ns_each(w.count, [&] {
///               for (std::size_t i = 0; i < w.count; ++i)
///                 s.launch(&nop);
///               s.synchronize();
///             });
///           };
///         }},
///       }};
///     }
struct contender {
  std::string name;
  std::map<std::string, setup> rows;
};

/// The contender does not exist on this machine (no driver, no platform). The run reports the
/// reason once, leaves the contender out and still succeeds.
class unavailable : public std::runtime_error {
public:
  using std::runtime_error::runtime_error;
};

}  // namespace troupe::bench
