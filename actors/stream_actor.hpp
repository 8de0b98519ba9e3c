#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include <caf/allowed_unsafe_message_type.hpp>

#include "actors/scheduling/actor_base.hpp"
#include "actors/scheduling/reply.hpp"
#include "actors/stream_record.hpp"

namespace troupe {

// -- messages -----------------------------------------------------------------

/// Drops everything the stream has accepted; it stays usable. Answered at once: host threads that
/// wait are let go before, a kernel that runs may take until it notices.
struct abort_stream {
  reply<status> answer;
  bool dropped = false; ///< the sender has done so: only see to it that the work ends in time
};

/// Ends the stream once what it accepted has run, or, by force, has been dropped. Answered at once.
/// Force also reaches a stream that was closed before and still drains. Failures: 107017 when it
/// was closed before, without force. Failures of its tasks that nobody was told of go to the
/// context, unless whoever asks `reports` them.
struct close_stream {
  bool force;
  reply<status> answer;
  bool reports = false;
};

/// Answered once the stream has ended and no longer counts against its device's limit.
struct await_stream_end {
  reply<status> answer;
};

/// A device-side wait, command `number`, has taken as long as it may.
struct wait_expired {
  std::uint64_t number;
};

/// An abort of all commands up to `mark` has had its time: whoever still executes one of them is
/// given up on.
struct abort_overdue {
  std::uint64_t mark;
};

/// Everything that a closed stream accepted has ended.
struct stream_drained {};

// -- the actor ----------------------------------------------------------------

/// The control side of one stream. Its mailbox has two parts: the queue of commands in the record,
/// read without messages, and CAF's for the messages above. So an abort never stands behind
/// commands, and commands never cost a message.
///
///     open --close--> draining --drained--> ended
///
/// If it ends in any other way (killed), the stream is closed and what it owes is dropped, so that
/// nobody waits for it in vain.
class stream_actor : public actor_base {
public:
  stream_actor(caf::actor_config& config, std::shared_ptr<stream_record> record);

  void on_exit() override;
  [[nodiscard]] const char* state_word() const override;

private:
  caf::behavior handlers() override;
  void start_again(const status& why) override;
  void watch_bound();
  void close(close_stream& request);
  void watch_for_end();
  void set_overdue_timer(std::uint64_t mark);
  void give_up(std::uint64_t mark);

  std::shared_ptr<stream_record> record_; // let go at the end
  std::vector<reply<status>> end_awaited_;
  std::uint64_t watched_mark_ = 0; // the newest mark that has a timer, or all up to it has ended
  bool failures_reported_ = false; // by whoever closed the stream
};

/// Sets the timer behind a device-side wait of `stream`, command `number`.
[[nodiscard]] timer_queue::timer_id start_wait_timer(stream_record& stream, std::uint64_t number,
                                                     time_ns limit);

} // namespace troupe

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::abort_stream)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::close_stream)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::await_stream_end)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::wait_expired)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::abort_overdue)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::stream_drained)
