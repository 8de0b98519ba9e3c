#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include <caf/actor.hpp>

#include "actors/faults/attacked_actor.hpp"
#include "actors/scheduling/completion.hpp"
#include "actors/scheduling/reply.hpp"
#include "core/faults/fault_report.hpp"

namespace troupe {

class machine;

/// A call of a client that waits for one actor's answer: where it waits, for how long, and whether
/// anybody still takes what comes.
class pending_call {
public:
  /// `call` names it in reports and lives for ever.
  pending_call(machine& home, const caf::actor& target, const char* call);

  /// Waits on the calling client thread, which runs control work meanwhile, until the answer is
  /// there: success. Failure 107019 after `control_timeout_ms`, or when a simulated run hangs: what
  /// comes then is not taken.
  [[nodiscard]] status await();

protected:
  ~pending_call() = default;

  /// What becomes of an answer that arrives: the first one is taken, or given back if nobody waits
  /// any more; the same one again is nothing new.
  enum class use : unsigned char { taken, unwanted, repeated };

  /// To be followed by `tell` if taken, once the answer is stored. On the answering thread.
  [[nodiscard]] use arrives();
  void tell() { point_.set(); }

  /// The fault that befalls the answer.
  [[nodiscard]] std::optional<fault_activation> strike();
  [[nodiscard]] bool late(const fault_activation& by, std::function<void()> arrive);

private:
  enum class state : unsigned char { waiting, answered, left, over };

  [[nodiscard]] std::string answering() const {
    return std::string(role_) + " " + std::to_string(id_);
  }
  [[nodiscard]] std::string words() const {
    return "the answer of " + answering() + " to " + call_;
  }
  [[nodiscard]] status too_late() const; // under the lock

  machine& home_;
  const char* const role_; // of the actor that answers, and its number
  const std::uint64_t id_;
  const std::shared_ptr<attacked_actor> known_; // of that actor; null: no fault befalls it
  const char* const call_;
  completion point_;
  mutable std::mutex guard_;
  state state_ = state::waiting;
  std::string struck_by_; // the entry of the plan that befell the answer
};

/// The same with its answer. `T` is `status` or a `result`.
template <class T>
class pending_answer final : public pending_call,
                             public std::enable_shared_from_this<pending_answer<T>> {
public:
  /// Gives back what an answer that nobody takes would give to the caller. Posts messages only.
  using give_back = std::function<void(T&)>;

  pending_answer(machine& home, const caf::actor& target, const char* call, give_back unwanted)
      : pending_call(home, target, call), unwanted_(std::move(unwanted)) {}

  void answer(T given) {
    const auto by = strike();
    if (!by) return arrive(std::move(given));
    if (by->action.kind == fault_kind::drop) return refuse(given);
    if (by->action.kind == fault_kind::duplicate) arrive(given);
    const auto self = this->shared_from_this();
    if (!late(*by, [self, given] { self->arrive(given); })) arrive(std::move(given));
  }

  [[nodiscard]] T result() {
    if (auto waited = await(); !waited.ok()) return T(std::move(waited));
    return std::move(*answer_);
  }

private:
  void arrive(T given) {
    switch (arrives()) {
      case use::taken:
        answer_.emplace(std::move(given));
        return tell();
      case use::unwanted: return refuse(given);
      case use::repeated: return;
    }
  }

  void refuse(T& given) {
    if (unwanted_ && given.ok()) unwanted_(given);
  }

  const give_back unwanted_;
  std::optional<T> answer_;
};

} // namespace troupe
