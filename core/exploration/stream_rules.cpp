#include "core/exploration/stream_rules.hpp"

#include <map>
#include <utility>
#include <vector>

namespace troupe {
namespace {

using stream_key = std::pair<std::uint32_t, std::uint64_t>; // runtime and stream

stream_key key_of(const run_event& event) { return {event.runtime, event.stream}; }

// What is known of one command.
struct fate {
  command_kind kind = command_kind::kernel;
  const char* name = "";
  std::uint64_t awaited_stream = 0; // 0: nothing, or a signal
  std::uint64_t awaited_number = 0;
  bool begun = false;
  bool worked = false;
  bool excused = false; // failed, dropped or lost: it need not have worked
};

struct stream_history {
  std::uint64_t submitted = 0;
  std::uint64_t begun = 0;
  std::uint64_t published = 0;
  std::vector<fate> fates; // by number, from 1

  fate& of(std::uint64_t number) {
    if (fates.size() <= number) fates.resize(number + 1);
    return fates[number];
  }
};

using histories = std::map<stream_key, stream_history>;

void submit(stream_history& stream, const run_event& event) {
  auto& made = stream.of(event.number);
  made.kind = event.kind;
  made.name = event.name;
  made.awaited_stream = event.awaited_stream;
  made.awaited_number = event.awaited_number;
}

// `event` in words, with the operation's name also where only its number is on record.
std::string in_words(run_event event, stream_history& stream) {
  const auto& known = stream.of(event.number);
  event.kind = known.kind;
  event.name = known.name;
  return describe(event);
}

bool needs_work(command_kind kind) {
  return kind != command_kind::record && kind != command_kind::wait;
}

} // namespace

std::string check_order(const run_record& record) {
  histories all;
  for (const auto& each : record.events) {
    auto& stream = all[key_of(each)];
    switch (each.what) {
      case happening::submitted:
      case happening::lost:
        if (each.number != stream.submitted + 1) {
          return describe(each) + " after #" + std::to_string(stream.submitted);
        }
        submit(stream, each);
        stream.submitted = each.number;
        break;
      case happening::begun:
        if (each.number <= stream.begun) {
          return describe(each) + " after #" + std::to_string(stream.begun);
        }
        if (stream.published + 1 < each.number) {
          return describe(each) + " when #" + std::to_string(stream.published + 1) +
                 " had not ended";
        }
        stream.begun = each.number;
        break;
      case happening::published:
        if (each.number != stream.published + 1) {
          return in_words(each, stream) + " after #" + std::to_string(stream.published);
        }
        if (each.number > stream.submitted) return describe(each) + ", but was never submitted";
        stream.published = each.number;
        break;
      default: break;
    }
  }
  return {};
}

std::string check_tickets(const run_record& record) {
  histories all;
  for (const auto& each : record.events) {
    auto& stream = all[key_of(each)];
    if (each.what == happening::submitted) {
      submit(stream, each);
    } else if (each.what == happening::failed || each.what == happening::dropped ||
               each.what == happening::lost) {
      stream.of(each.number).excused = true;
    } else if (each.what == happening::published) {
      stream.published = each.number;
      const auto wait = stream.of(each.number);
      if (wait.excused) continue;
      if (wait.awaited_stream == 0) {
        if (each.detail == 0) continue;
        return in_words(each, all[key_of(each)]) + " when its signal had not been raised";
      }
      const auto at = all[{each.runtime, wait.awaited_stream}].published;
      if (at >= wait.awaited_number) continue;
      return in_words(each, all[key_of(each)]) + " when stream " +
             std::to_string(wait.awaited_stream) + " was at #" + std::to_string(at) +
             " and not yet at #" + std::to_string(wait.awaited_number);
    }
  }
  return {};
}

std::string check_truth(const run_record& record) {
  histories all;
  for (const auto& each : record.events) {
    auto& stream = all[key_of(each)];
    switch (each.what) {
      case happening::submitted: submit(stream, each); break;
      case happening::begun:
        if (stream.of(each.number).begun) return describe(each) + " a second time";
        stream.of(each.number).begun = true;
        break;
      case happening::worked:
        if (stream.of(each.number).worked) return describe(each) + " a second time";
        stream.of(each.number).worked = true;
        break;
      case happening::lost:
      case happening::failed:
      case happening::dropped: stream.of(each.number).excused = true; break;
      case happening::published: {
        const auto& fate = stream.of(each.number);
        if (needs_work(fate.kind) && !fate.worked && !fate.excused) {
          return in_words(each, stream) + ", and it neither worked nor failed";
        }
        stream.published = each.number;
        break;
      }
      case happening::told:
        if (each.number > stream.published) {
          return "a host thread was told that stream " + std::to_string(each.stream) +
                 " has reached #" + std::to_string(each.number) + " when it was at #" +
                 std::to_string(stream.published);
        }
        break;
      default: break;
    }
  }
  return {};
}

} // namespace troupe
