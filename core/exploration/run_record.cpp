#include "core/exploration/run_record.hpp"

namespace troupe {

const char* to_string(happening what) noexcept {
  switch (what) {
    case happening::submitted: return "submitted";
    case happening::lost: return "lost";
    case happening::begun: return "begun";
    case happening::worked: return "worked";
    case happening::miscopied: return "miscopied";
    case happening::robbed: return "robbed";
    case happening::corrupted: return "corrupted";
    case happening::failed: return "failed";
    case happening::dropped: return "dropped";
    case happening::published: return "published";
    case happening::told: return "told";
  }
  return "unknown";
}

const char* to_string(command_kind kind) noexcept {
  switch (kind) {
    case command_kind::kernel: return "kernel";
    case command_kind::copy_h2d: return "copy to the device";
    case command_kind::copy_d2h: return "copy to the host";
    case command_kind::copy_d2d: return "copy on the device";
    case command_kind::callback: return "callback";
    case command_kind::record: return "record";
    case command_kind::wait: return "wait";
  }
  return "unknown";
}

std::string describe(const run_event& event) {
  std::string text = "stream " + std::to_string(event.stream);
  if (event.runtime != 1) text += " of runtime " + std::to_string(event.runtime);
  text += " #" + std::to_string(event.number);
  if (*event.name != '\0') {
    text += std::string(" ") + to_string(event.kind) + " '" + event.name + "'";
  }
  text += std::string(" ") + to_string(event.what);
  if (event.what == happening::failed) text += " with " + std::to_string(event.detail);
  return text;
}

} // namespace troupe
