#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace troupe::bench {

/// What a figure counts. All but what is counted a second is better when smaller.
enum class unit { nanoseconds, percent, bytes, images_per_second, runs_per_second };

/// The amount of work in one repetition of a row. Contenders read their numbers from here and
/// nowhere else, so that all of them do the same and a quick run can shrink them together.
struct workload {
  std::size_t count = 1;    ///< Operations over all streams and clients together.
  std::size_t streams = 1;  ///< Streams (queues, actors, nodes) that take the operations in turn.
  std::size_t clients = 1;  ///< Threads that submit, each on a stream of its own.
  std::size_t bytes = 0;    ///< Size of one block or copy.
  double seconds = 0;       ///< Wall time to stay idle.
};

/// One line of the table: a question that every contender answers with one figure.
struct row {
  std::string name;
  std::string meaning;
  unit figure;
  workload full;

  /// True for copies, for which the table also shows the speed in GB/s.
  [[nodiscard]] bool moves_bytes() const;

  /// The work of one repetition; about a fiftieth of the full amount if `quick`.
  [[nodiscard]] workload work(bool quick) const;
};

/// All rows in the order of the table.
[[nodiscard]] const std::vector<row>& all_rows();

/// The row of that name, or null.
[[nodiscard]] const row* find_row(std::string_view name);

[[nodiscard]] bool larger_is_better(unit u);

[[nodiscard]] std::string_view to_string(unit u);

}  // namespace troupe::bench
