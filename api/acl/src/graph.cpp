// Streams captured into graphs, and their replay.

#include <fstream>
#include <string>

#include <acl/acl.h>

#include "api/acl/src/call.hpp"
#include "api/acl/src/captures.hpp"
#include "api/acl/src/error_output.hpp"
#include "api/acl/src/objects.hpp"

using namespace troupe;
using namespace troupe::acl;

namespace {

constexpr auto write_file = static_cast<code>(100004);

aclmdlRICaptureStatus status_of(const capturing::info& seen) {
  if (seen.invalidated) return ACL_MODEL_RI_CAPTURE_STATUS_INVALIDATED;
  return seen.active ? ACL_MODEL_RI_CAPTURE_STATUS_ACTIVE : ACL_MODEL_RI_CAPTURE_STATUS_NONE;
}

std::shared_ptr<graph_object> graph_named(const char* call, aclmdlRI handle) {
  if (handle == nullptr) throw error(bad_argument(std::string(call) + ": modelRI is null"));
  return find_graph(handle);
}

}  // namespace

aclError aclmdlRICaptureBegin(aclrtStream stream, aclmdlRICaptureMode mode) {
  return call([&]() -> status {
    const auto how = capture_mode_of("aclmdlRICaptureBegin", mode);
    if (!how) return how.error();
    return captures::instance().begin(stream_for_work(stream), how.value());
  });
}

aclError aclmdlRICaptureEnd(aclrtStream stream, aclmdlRI* modelRI) {
  return call([&]() -> status {
    if (modelRI == nullptr) return bad_argument("aclmdlRICaptureEnd: modelRI is null");
    auto& origin = stream_for_work(stream);
    const auto made = captures::instance().end(origin, current_context()->context);
    if (!made) return made.error();
    *modelRI = made.value();
    return {};
  });
}

aclError aclmdlRICaptureGetInfo(aclrtStream stream, aclmdlRICaptureStatus* status,
                                aclmdlRI* modelRI) {
  return call([&]() -> troupe::status {
    if (status == nullptr) return bad_argument("aclmdlRICaptureGetInfo: status is null");
    auto& which = stream_for_work(stream);
    const auto seen = capturing::look(which);
    if (!seen) return seen.error();
    *status = status_of(seen.value());
    if (modelRI != nullptr) *modelRI = captures::instance().graph_of(which);
    return {};
  });
}

aclError aclmdlRICaptureThreadExchangeMode(aclmdlRICaptureMode* mode) {
  return call([&]() -> status {
    if (mode == nullptr) return bad_argument("aclmdlRICaptureThreadExchangeMode: mode is null");
    const auto wanted = capture_mode_of("aclmdlRICaptureThreadExchangeMode", *mode);
    if (!wanted) return wanted.error();
    *mode = static_cast<aclmdlRICaptureMode>(capturing::exchange_mode(wanted.value()));
    return {};
  });
}

aclError aclmdlRIExecuteAsync(aclmdlRI modelRI, aclrtStream stream) {
  return call([&] {
    const auto found = graph_named("aclmdlRIExecuteAsync", modelRI);
    return found->run().launch(stream_for_work(stream));
  });
}

aclError aclmdlRIDestroy(aclmdlRI modelRI) {
  return call([&] {
    const auto found = graph_named("aclmdlRIDestroy", modelRI);
    auto outcome = found->run().destroy();
    // Also when another thread was faster.
    if (outcome.ok() || outcome.code() == code::invalid_handle) {
      (void)handle_table::instance().remove(handle_kind::graph, modelRI);
    }
    return outcome;
  });
}

aclError aclmdlRIGetId(aclmdlRI modelRI, uint32_t* modelRIId) {
  return call([&]() -> status {
    if (modelRIId == nullptr) return bad_argument("aclmdlRIGetId: modelRIId is null");
    *modelRIId = static_cast<std::uint32_t>(graph_named("aclmdlRIGetId", modelRI)->content().id());
    return {};
  });
}

aclError aclmdlRIDebugPrint(aclmdlRI modelRI) {
  return call([&]() -> status {
    write_error_output(graph_named("aclmdlRIDebugPrint", modelRI)->content().to_dot());
    return {};
  });
}

aclError aclmdlRIDebugJsonPrint(aclmdlRI modelRI, const char* path, uint32_t /*flags*/) {
  return call([&]() -> status {
    const auto found = graph_named("aclmdlRIDebugJsonPrint", modelRI);
    if (path == nullptr) return bad_argument("aclmdlRIDebugJsonPrint: path is null");
    const auto text = found->content().to_json();
    std::ofstream file(path);
    if (file && file << text << '\n' && file.flush()) return {};
    return make_status(write_file,
                       "aclmdlRIDebugJsonPrint: '" + std::string(path) + "' cannot be written");
  });
}
