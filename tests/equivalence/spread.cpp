#include "tests/equivalence/spread.hpp"

#include <algorithm>
#include <set>
#include <string>

namespace troupe::equivalence {
namespace {

using tensor_index = std::uint32_t;

// Memory that has been written: who wrote it last, and who has read it since.
struct use {
  std::size_t writer;
  std::set<std::size_t> readers;
};

class spreader {
public:
  spreader(const random_program& p, std::size_t lanes, stable_random& chance)
      : p_(p), lanes_(lanes), chance_(chance), uses_(p.what.tensors.size()),
        last_read_(p.what.tensors.size(), 0) {
    for (tensor_index i = 0; i < p.what.tensors.size(); ++i) {
      made_.homes.push_back(i);
      origins_.push_back(i);
    }
    for (std::size_t i = 0; i < p.what.steps.size(); ++i) {
      const auto& step = p.what.steps[i];
      for (const auto each : step.inputs) last_read_[each] = i;
      if (keeps_values(step.what.name)) origins_[step.output] = origins_[step.inputs.front()];
    }
  }

  spread make() {
    for (std::size_t i = 0; i < p_.what.steps.size(); ++i) add(i);
    return std::move(made_);
  }

private:
  // Whether a result may be just what its input is.
  static bool keeps_values(const std::string& name) {
    return name == "cast" || name == "reshape" || name == "relu" || name == "transpose";
  }

  // Mostly memory of a tensor that has been read for the last time, if there is some that is large
  // enough; inputs and outputs keep theirs. Not of one that may hold the same: a reader that comes
  // too early would find what it expects.
  void choose_home(std::size_t at, tensor_index output) {
    const auto bytes = p_.what.tensors[output].layout.bytes();
    std::vector<tensor_index> dead;
    for (std::size_t i = 0; i < at; ++i) {
      const auto each = p_.what.steps[i].output;
      const auto home = made_.homes[each];
      const bool free = !p_.what.tensors[each].kept && last_read_[each] < at &&
                        !taken_.contains(each) && origins_[each] != origins_[output];
      if (free && p_.what.tensors[home].layout.bytes() >= bytes) dead.push_back(each);
    }
    if (dead.empty() || chance_.chance(0.1)) return;
    const auto from = dead[chance_.below(dead.size())];
    taken_.insert(from);
    made_.homes[output] = made_.homes[from];
  }

  void add(std::size_t at) {
    const auto& step = p_.what.steps[at];
    choose_home(at, step.output);
    std::set<std::size_t> before;
    for (const auto each : step.inputs) {
      if (!p_.values[each].empty()) continue; // given, and there
      auto& memory = uses_[made_.homes[each]];
      before.insert(memory.writer);
      memory.readers.insert(at);
    }
    const auto home = made_.homes[step.output];
    if (home != step.output) {
      before.insert(uses_[home].writer);
      before.insert(uses_[home].readers.begin(), uses_[home].readers.end());
      before.erase(at);
    }
    uses_[home] = {at, {}};
    spread::step made{chance_.below(lanes_), {}};
    for (const auto each : before) {
      if (made_.steps[each].lane != made.lane) made.after.push_back(each);
    }
    made_.steps.push_back(std::move(made));
  }

  const random_program& p_;
  const std::size_t lanes_;
  stable_random& chance_;
  spread made_;
  std::vector<use> uses_; // by home
  std::vector<std::size_t> last_read_;
  std::vector<tensor_index> origins_; // whose values it may have unchanged
  std::set<tensor_index> taken_; // whose memory has another tensor now
};

// Which steps come before each, by lanes and all waits but one.
std::vector<std::vector<bool>> befores(const spread& all, const spread::edge* without) {
  std::vector<std::vector<bool>> made;
  for (std::size_t i = 0; i < all.steps.size(); ++i) {
    std::vector<bool> mine(all.steps.size(), false);
    const auto follow = [&](std::size_t other) {
      mine[other] = true;
      for (std::size_t k = 0; k < other; ++k) mine[k] = mine[k] || made[other][k];
    };
    const auto& [lane, after] = all.steps[i];
    for (std::size_t k = 0; k < i; ++k) {
      if (all.steps[k].lane == lane) follow(k);
    }
    for (std::size_t w = 0; w < after.size(); ++w) {
      if (without != nullptr && without->step == i && without->wait == w) continue;
      follow(after[w]);
    }
    made.push_back(std::move(mine));
  }
  return made;
}

} // namespace

std::vector<spread::edge> spread::needed() const {
  std::vector<edge> made;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    for (std::size_t w = 0; w < steps[i].after.size(); ++w) {
      const edge each{i, w};
      if (!befores(*this, &each)[i][steps[i].after[w]]) made.push_back(each);
    }
  }
  return made;
}

spread make_spread(const random_program& p, std::size_t lanes, stable_random& chance) {
  return spreader(p, lanes, chance).make();
}

} // namespace troupe::equivalence
