#include <memory>
#include <string>
#include <vector>

#include <acl/acl.h>

#include "api/acl/src/call.hpp"
#include "api/acl/src/data_object.hpp"

using namespace troupe;
using namespace troupe::acl;

/// See acl_mdl.h: a list of data buffers, and descriptions of their tensors where they were given.
/// It owns neither.
struct aclmdlDataset {
  struct part {
    aclDataBuffer* buffer;
    aclTensorDesc* description;
  };
  std::vector<part> parts;
};

template <>
inline constexpr handle_kind troupe::acl::data_kind<aclmdlDataset> = handle_kind::dataset;

aclmdlDataset* aclmdlCreateDataset() {
  return call_for<aclmdlDataset*>(nullptr, [] { return hold(std::make_shared<aclmdlDataset>()); });
}

aclError aclmdlDestroyDataset(const aclmdlDataset* dataset) {
  return call([&] { return let_go("aclmdlDestroyDataset", dataset); });
}

aclError aclmdlAddDatasetBuffer(aclmdlDataset* dataset, aclDataBuffer* dataBuffer) {
  return call([&]() -> status {
    if (dataset == nullptr || dataBuffer == nullptr) {
      return bad_argument("aclmdlAddDatasetBuffer: an argument is null");
    }
    auto* const found = object_of(dataset);
    if (found == nullptr || object_of(dataBuffer) == nullptr) {
      return invalid_handle("dataset or buffer");
    }
    found->parts.push_back({dataBuffer, nullptr});
    return {};
  });
}

aclError aclmdlSetDatasetTensorDesc(aclmdlDataset* dataset, aclTensorDesc* tensorDesc,
                                    size_t index) {
  return call([&]() -> status {
    if (dataset == nullptr || tensorDesc == nullptr) {
      return bad_argument("aclmdlSetDatasetTensorDesc: an argument is null");
    }
    auto* const found = object_of(dataset);
    if (found == nullptr || object_of(tensorDesc) == nullptr) {
      return invalid_handle("dataset or description");
    }
    if (index >= found->parts.size()) {
      return bad_argument("aclmdlSetDatasetTensorDesc: no buffer has index " +
                          std::to_string(index));
    }
    found->parts[index].description = tensorDesc;
    return {};
  });
}

aclTensorDesc* aclmdlGetDatasetTensorDesc(const aclmdlDataset* dataset, size_t index) {
  const auto* const found = object_of(dataset);
  return found != nullptr && index < found->parts.size() ? found->parts[index].description
                                                         : nullptr;
}

size_t aclmdlGetDatasetNumBuffers(const aclmdlDataset* dataset) {
  const auto* const found = object_of(dataset);
  return found != nullptr ? found->parts.size() : 0;
}

aclDataBuffer* aclmdlGetDatasetBuffer(const aclmdlDataset* dataset, size_t index) {
  const auto* const found = object_of(dataset);
  return found != nullptr && index < found->parts.size() ? found->parts[index].buffer : nullptr;
}
