// Branches of captured graphs, which run as values in device memory say.

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include <acl/acl.h>

#include "api/acl/src/call.hpp"
#include "api/acl/src/captures.hpp"
#include "api/acl/src/conditions.hpp"
#include "api/acl/src/objects.hpp"

using namespace troupe;
using namespace troupe::acl;

namespace {

constexpr std::uint32_t branches_max = 256;

std::shared_ptr<condition_object> find_condition(void* handle) {
  auto found = handle_table::instance().find(handle_kind::condition, handle);
  if (!found) throw error(invalid_handle("condition"));
  return std::static_pointer_cast<condition_object>(std::move(found));
}

std::uint32_t most_branches(aclmdlRICondTaskType how) {
  switch (how) {
    case ACL_MODEL_RI_COND_TYPE_IF: return 2;
    case ACL_MODEL_RI_COND_TYPE_WHILE: return 1;
    case ACL_MODEL_RI_COND_TYPE_SWITCH: return branches_max;
  }
  return 0;
}

status add_branches(const aclmdlRICondTaskParams& params, stream& line) {
  const auto by = find_condition(params.handle);
  const auto whose = by->whose.lock();
  const auto captured = captures::instance().object_of(line);
  if (!captured) {
    return make_status(code::stream_not_captured,
                       "stream " + std::to_string(line.id()) + " does not capture");
  }
  if (captured != whose) return bad_parameter("the condition is of another graph");
  conditions::branches made;
  std::vector<void*> handles;
  for (std::uint32_t i = 0; i < params.size; ++i) {
    made.push_back(std::make_shared<graph_object>(graph_object::part::branch));
    handles.push_back(new_handle(handle_kind::graph, made.back()));
    whose->own(handle_kind::graph, handles.back());
  }
  if (auto s = whose->decisions().add_branches(line, params.type, by, made); !s.ok()) return s;
  std::copy(handles.begin(), handles.end(), params.modelRIArray);
  return {};
}

}  // namespace

aclError aclmdlRICondHandleCreate(aclmdlRI modelRI, unsigned int defaultLaunchValue, uint32_t flags,
                                  aclmdlRICondHandle* handle) {
  return call([&]() -> status {
    if (modelRI == nullptr || handle == nullptr) {
      return bad_argument("aclmdlRICondHandleCreate: modelRI or handle is null");
    }
    if (flags > ACL_MODEL_RI_COND_HANDLE_ASSIGN_DEFAULT) {
      return bad_parameter("aclmdlRICondHandleCreate: flags of " + std::to_string(flags));
    }
    const auto whose = find_graph(modelRI);
    if (whose->captured()) {
      return bad_parameter("aclmdlRICondHandleCreate: the capture of the graph has ended");
    }
    auto value = current_context()->context.allocate<std::uint64_t>(1, initial::cleared);
    if (!value) return value.error();
    auto made = std::make_shared<condition_object>();
    made->whose = whose;
    made->value = std::move(value).value();
    if (flags == ACL_MODEL_RI_COND_HANDLE_ASSIGN_DEFAULT) made->at_start = defaultLaunchValue;
    auto* const name = new_handle(handle_kind::condition, made);
    whose->own(handle_kind::condition, name);
    whose->decisions().add_value(std::move(made));
    *handle = name;
    return {};
  });
}

aclError aclmdlRICondHandleGetCondPtr(aclmdlRICondHandle handle, uint64_t** ptr) {
  return call([&]() -> status {
    if (handle == nullptr || ptr == nullptr) {
      return bad_argument("aclmdlRICondHandleGetCondPtr: handle or ptr is null");
    }
    *ptr = find_condition(handle)->value.data();
    return {};
  });
}

aclError aclmdlRIAddCondTask(aclmdlRICondTaskParams params, aclrtStream stream, uint32_t flags) {
  return call([&]() -> status {
    if (params.handle == nullptr || params.modelRIArray == nullptr) {
      return bad_argument("aclmdlRIAddCondTask: handle or modelRIArray is null");
    }
    if (flags != 0) return bad_parameter("aclmdlRIAddCondTask: flags are reserved, 0");
    const auto most = most_branches(params.type);
    if (params.size == 0 || params.size > most) {
      return bad_parameter("aclmdlRIAddCondTask: " + std::to_string(params.size) +
                           " branches of kind " + std::to_string(params.type) +
                           ", which has 1 to " + std::to_string(most));
    }
    return add_branches(params, stream_for_work(stream));
  });
}

aclError aclmdlRICaptureToModelRIBegin(aclrtStream stream, aclmdlRI modelRI,
                                       aclmdlRICaptureMode mode) {
  return call([&]() -> status {
    if (modelRI == nullptr) return bad_argument("aclmdlRICaptureToModelRIBegin: modelRI is null");
    const auto how = capture_mode_of("aclmdlRICaptureToModelRIBegin", mode);
    if (!how) return how.error();
    return captures::instance().begin_branch(stream_for_work(stream), how.value(), modelRI);
  });
}
