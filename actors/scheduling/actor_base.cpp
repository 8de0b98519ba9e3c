#include "actors/scheduling/actor_base.hpp"

#include <atomic>

#include <caf/message_view.hpp>
#include <caf/sec.hpp>

namespace troupe {
namespace {

std::atomic<std::size_t> unexpected_count = 0;

} // namespace

std::size_t actor_base::unexpected_messages() noexcept { return unexpected_count.load(); }

void actor_base::start_again(const status&) {}

status actor_base::status_of_exception(std::exception_ptr thrown, const char* role) {
  try {
    std::rethrow_exception(std::move(thrown));
  } catch (const std::exception& e) {
    return make_status(code::internal_error,
                       "the " + std::string(role) + " actor failed: " + e.what());
  } catch (...) {
    return make_status(code::internal_error,
                       "the " + std::string(role) + " actor failed with an unknown exception");
  }
}

// Here rather than among the handlers, as it comes where a plan of faults sends it and never else.
caf::result<caf::message> actor_base::take_unexpected(caf::scheduled_actor* self,
                                                      caf::message_view& message) {
  const auto& content = message.content();
  if (content.match_elements<begin_again>()) {
    static_cast<actor_base*>(self)->start_again(content.get_as<begin_again>(0).why);
    announce_release(self);
    return caf::message{};
  }
  unexpected_count.fetch_add(1);
  return caf::sec::unexpected_message;
}

caf::error actor_base::count_escaped(caf::scheduled_actor*, std::exception_ptr&) {
  unexpected_count.fetch_add(1);
  return caf::sec::runtime_error;
}

} // namespace troupe
