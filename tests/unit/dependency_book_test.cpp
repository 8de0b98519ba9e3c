#include "core/dataflow/dependency_book.hpp"

#include <array>
#include <map>
#include <random>

#include <gtest/gtest.h>

namespace troupe {
namespace {

using node = dependency_book::node;

std::array<std::byte, 32> memory;

access_range bytes(std::size_t begin, std::size_t count, access_mode mode) {
  return {memory.data() + begin, count, mode};
}

access_range read(std::size_t begin, std::size_t count) {
  return bytes(begin, count, access_mode::read);
}

access_range write(std::size_t begin, std::size_t count) {
  return bytes(begin, count, access_mode::write);
}

using dependencies = std::vector<dependency_book::dependency>;

TEST(dependency_book, S12_reads_wait_for_the_writer_writes_for_all) {
  dependency_book book;
  book.add(1, std::array{write(0, 8)});
  EXPECT_EQ(book.dependencies_of(std::array{read(0, 8)}), (dependencies{{1, true}}));
  book.add(2, std::array{read(0, 8)});
  book.add(3, std::array{read(4, 4)});
  EXPECT_EQ(book.dependencies_of(std::array{read(0, 8)}), (dependencies{{1, true}}));
  EXPECT_EQ(book.dependencies_of(std::array{write(0, 4)}), (dependencies{{1, false}, {2, false}}));
  book.add(4, std::array{write(0, 4)});
  EXPECT_EQ(book.dependencies_of(std::array{read(2, 4)}), (dependencies{{1, true}, {4, true}}));
}

TEST(dependency_book, S12_what_failed_is_remembered_until_it_is_written_again) {
  dependency_book book;
  book.add(1, std::array{write(0, 8)});
  book.spoil(1);
  book.settle(1);
  EXPECT_EQ(book.dependencies_of(std::array{read(7, 1)}), (dependencies{{1, true}}));
  EXPECT_TRUE(book.dependencies_of(std::array{write(0, 8)}).empty());
  book.add(2, std::array{write(0, 8)});
  EXPECT_EQ(book.dependencies_of(std::array{read(7, 1)}), (dependencies{{2, true}}));
}

TEST(dependency_book, S12_what_failed_is_forgotten_where_its_memory_is_gone) {
  dependency_book book;
  book.add(1, std::array{write(0, 8), write(16, 8)});
  book.spoil(1);
  book.settle(1);
  book.add(2, std::array{write(4, 4)});
  book.spoil(2);
  book.settle(2);
  book.forget(1, write(0, 8));
  EXPECT_TRUE(book.dependencies_of(std::array{read(0, 4)}).empty());
  EXPECT_EQ(book.dependencies_of(std::array{read(0, 8)}), (dependencies{{2, true}}));
  EXPECT_EQ(book.dependencies_of(std::array{read(16, 8)}), (dependencies{{1, true}}));
}

TEST(dependency_book, S12_forgets_memory_of_nodes_that_have_ended) {
  dependency_book book;
  for (node n = 1; n <= 10'000; ++n) {
    const access_range far{reinterpret_cast<const void*>(n * 64), 64, access_mode::write};
    book.add(n, std::array{far});
    book.settle(n);
  }
  EXPECT_LE(book.pieces(), 64U);
}

// The same by looking at every byte.
struct byte_model {
  struct state {
    node writer = 0;
    std::vector<node> readers;
  };
  std::array<state, memory.size()> bytes;
  std::set<node> spoiled;
  node settled = 0;

  template <class Visit>
  void each(const access_range& range, Visit visit) {
    const auto begin = static_cast<std::size_t>(static_cast<const std::byte*>(range.base) -
                                                memory.data());
    for (auto i = begin; i < begin + range.bytes; ++i) visit(bytes[i]);
  }

  dependencies of(std::span<const access_range> ranges) {
    std::map<node, bool> found;
    for (const auto& range : ranges) {
      const bool reads = range.mode == access_mode::read;
      each(range, [&](const state& seen) {
        if (seen.writer > settled || (reads && spoiled.contains(seen.writer))) {
          found[seen.writer] |= reads;
        }
        for (const auto reader : seen.readers) {
          if (!reads && reader > settled) found[reader] |= false;
        }
      });
    }
    dependencies made;
    for (const auto& [on, data] : found) made.push_back({on, data});
    return made;
  }

  void add(node added, std::span<const access_range> ranges) {
    for (const auto& range : ranges) {
      if (range.mode == access_mode::read) {
        each(range, [&](state& seen) { seen.readers.push_back(added); });
      }
    }
    for (const auto& range : ranges) {
      if (range.mode == access_mode::write) {
        each(range, [&](state& seen) { seen = {added, {}}; });
      }
    }
  }
};

TEST(dependency_book, S12_says_what_a_look_at_every_byte_says) {
  for (unsigned seed = 1; seed <= 50; ++seed) {
    std::minstd_rand chance(seed);
    dependency_book book;
    byte_model model;
    for (node n = 1; n <= 200; ++n) {
      std::vector<access_range> ranges;
      for (auto left = chance() % 3 + 1; left > 0; --left) {
        const auto begin = chance() % memory.size();
        const auto count = chance() % (memory.size() - begin) + 1;
        ranges.push_back(chance() % 2 == 0 ? read(begin, count) : write(begin, count));
      }
      ASSERT_EQ(book.dependencies_of(ranges), model.of(ranges)) << "seed " << seed << ", " << n;
      book.add(n, ranges);
      model.add(n, ranges);
      if (chance() % 8 == 0) {
        book.spoil(n);
        model.spoiled.insert(n);
      }
      if (chance() % 4 == 0) {
        model.settled = std::max(model.settled, n - chance() % n);
        book.settle(model.settled);
      }
    }
  }
}

} // namespace
} // namespace troupe
