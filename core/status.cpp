#include "core/status.hpp"

namespace troupe {
namespace {

std::string headline(const error_record& record) {
  return std::string(to_string(record.what)) + " (" +
         std::to_string(static_cast<std::int32_t>(record.what)) + "): " + record.message;
}

void append_origin(std::string& text, const error_record& record) {
  if (record.task_number != 0) {
    text += "\n  task " + std::to_string(record.task_number);
    if (!record.task_name.empty()) text += " '" + record.task_name + "'";
  }
  if (record.stream != 0) text += " of stream " + std::to_string(record.stream);
  if (record.context != 0) text += ", context " + std::to_string(record.context);
  if (record.device) text += ", device " + std::to_string(*record.device);
  if (record.site.line != 0) {
    text += ", submitted at " + std::string(record.site.file) + ":" +
            std::to_string(record.site.line) + " by thread " + std::to_string(record.thread);
  }
  if (!record.plan_entry.empty()) text += ", injected by " + record.plan_entry;
}

} // namespace

std::string describe(const error_record& record) {
  std::string text = headline(record);
  append_origin(text, record);
  if (record.lacking) {
    text += "\n  " + record.lacking->resource + ": asked " + std::to_string(record.lacking->asked) +
            ", used " + std::to_string(record.lacking->used) + ", limit " +
            std::to_string(record.lacking->limit);
  }
  if (record.cause) text += "\ncaused by " + describe(*record.cause);
  return text;
}

const std::string& status::message() const noexcept {
  static const std::string none;
  return record_ ? record_->message : none;
}

std::string status::describe() const {
  return record_ ? troupe::describe(*record_) : std::string("success");
}

void status::or_throw() const {
  if (!ok()) throw error(*this);
}

status make_status(code what, std::string message) {
  error_record record;
  record.what = what;
  record.message = std::move(message);
  return status(std::move(record));
}

error::error(status outcome)
    : std::runtime_error(outcome.describe()), outcome_(std::move(outcome)) {}

// A success that is thrown is a mistake of the kernel that throws it; whoever catches it says so.
error::error(troupe::code what, std::string message)
    : std::runtime_error(what == code::success ? message : make_status(what, message).describe()),
      outcome_(what == code::success ? status{} : make_status(what, std::move(message))) {}

} // namespace troupe
