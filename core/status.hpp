#pragma once

#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <variant>

#include <gsl/gsl>

#include "core/code.hpp"
#include "core/error_record.hpp"

namespace troupe {

/// The outcome of an operation: success, or a code with a record of where it came from.
///
/// A value; success carries nothing and costs nothing to copy. A failure shares one immutable
/// record, so that the first cause survives however many hands it passes through. Any thread.
class [[nodiscard]] status {
public:
  // -- constructors -----------------------------------------------------------

  /// Success.
  status() noexcept = default;

  /// A failure described by `record`, whose code must not be `success`.
  explicit status(error_record record)
      : record_(std::make_shared<const error_record>(std::move(record))) {
    Expects(record_->what != code::success);
  }

  /// A failure that shares `record`; null means success.
  explicit status(std::shared_ptr<const error_record> record) noexcept
      : record_(std::move(record)) {}

  // -- observers --------------------------------------------------------------

  [[nodiscard]] bool ok() const noexcept { return record_ == nullptr; }

  [[nodiscard]] troupe::code code() const noexcept {
    return record_ ? record_->what : troupe::code::success;
  }

  /// One line for a human: what failed, with the value and the limit; empty on success.
  [[nodiscard]] const std::string& message() const noexcept;

  /// Device, context, stream, task, thread and site of the failure; null on success.
  [[nodiscard]] const std::shared_ptr<const error_record>& record() const noexcept {
    return record_;
  }

  /// Code, message, origin and the chain of causes, each on a line of its own.
  [[nodiscard]] std::string describe() const;

  /// Two outcomes are equal when their codes are.
  friend bool operator==(const status& a, const status& b) noexcept { return a.code() == b.code(); }

  // -- conveniences -----------------------------------------------------------

  /// Throws `troupe::error` on failure; does nothing on success.
  void or_throw() const;

private:
  std::shared_ptr<const error_record> record_;
};

/// A failure with a message and no origin (a caller's mistake, found before any task existed).
[[nodiscard]] status make_status(code what, std::string message);

/// Thrown by the conveniences of the facade (`or_throw`, `result::value`) and, if it likes, by a
/// kernel or a host callback that wants its task to fail with a code of its own. One that holds a
/// success fails the task all the same, as any other exception does.
class error : public std::runtime_error {
public:
  explicit error(status outcome);
  error(troupe::code what, std::string message);

  [[nodiscard]] const status& outcome() const noexcept { return outcome_; }
  [[nodiscard]] troupe::code code() const noexcept { return outcome_.code(); }

private:
  status outcome_;
};

/// A `T`, or the status that says why there is none. Any thread, as far as `T` allows.
template <class T>
class [[nodiscard]] result {
public:
  result(T value) : state_(std::in_place_index<0>, std::move(value)) {}

  /// Takes a failure; a success without a value is a bug of the caller.
  result(status failure) : state_(std::in_place_index<1>, std::move(failure)) {
    Expects(!std::get<1>(state_).ok());
  }

  [[nodiscard]] bool ok() const noexcept { return state_.index() == 0; }
  explicit operator bool() const noexcept { return ok(); }

  /// The value; throws `troupe::error` when there is none.
  [[nodiscard]] T& value() & {
    require();
    return std::get<0>(state_);
  }
  [[nodiscard]] const T& value() const& {
    require();
    return std::get<0>(state_);
  }
  [[nodiscard]] T value() && {
    require();
    return std::get<0>(std::move(state_));
  }

  /// The failure; success when there is a value.
  [[nodiscard]] status error() const { return ok() ? status{} : std::get<1>(state_); }
  [[nodiscard]] troupe::code code() const noexcept {
    return ok() ? troupe::code::success : std::get<1>(state_).code();
  }

private:
  void require() const {
    if (!ok()) throw troupe::error(std::get<1>(state_));
  }

  std::variant<T, status> state_;
};

} // namespace troupe
