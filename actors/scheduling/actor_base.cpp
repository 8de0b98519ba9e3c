#include "actors/scheduling/actor_base.hpp"

#include <atomic>

#include <caf/sec.hpp>

namespace troupe {
namespace {

std::atomic<std::size_t> unexpected_count = 0;

} // namespace

std::size_t actor_base::unexpected_messages() noexcept { return unexpected_count.load(); }

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

caf::result<caf::message> actor_base::count_unexpected(caf::scheduled_actor*,
                                                       caf::message_view&) {
  unexpected_count.fetch_add(1);
  return caf::sec::unexpected_message;
}

caf::error actor_base::count_escaped(caf::scheduled_actor*, std::exception_ptr&) {
  unexpected_count.fetch_add(1);
  return caf::sec::runtime_error;
}

} // namespace troupe
