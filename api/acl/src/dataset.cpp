#include <new>
#include <string>
#include <vector>

#include <acl/acl.h>

#include "api/acl/src/call.hpp"

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

aclmdlDataset* aclmdlCreateDataset() {
  return new (std::nothrow) aclmdlDataset;
}

aclError aclmdlDestroyDataset(const aclmdlDataset* dataset) {
  return call([&]() -> status {
    if (dataset == nullptr) return bad_argument("aclmdlDestroyDataset: dataset is null");
    delete dataset;
    return {};
  });
}

aclError aclmdlAddDatasetBuffer(aclmdlDataset* dataset, aclDataBuffer* dataBuffer) {
  return call([&]() -> status {
    if (dataset == nullptr || dataBuffer == nullptr) {
      return bad_argument("aclmdlAddDatasetBuffer: an argument is null");
    }
    dataset->parts.push_back({dataBuffer, nullptr});
    return {};
  });
}

aclError aclmdlSetDatasetTensorDesc(aclmdlDataset* dataset, aclTensorDesc* tensorDesc,
                                    size_t index) {
  return call([&]() -> status {
    if (dataset == nullptr || tensorDesc == nullptr || index >= dataset->parts.size()) {
      return bad_argument(
          "aclmdlSetDatasetTensorDesc: an argument is null, or no buffer has index " +
          std::to_string(index));
    }
    dataset->parts[index].description = tensorDesc;
    return {};
  });
}

aclTensorDesc* aclmdlGetDatasetTensorDesc(const aclmdlDataset* dataset, size_t index) {
  if (dataset == nullptr || index >= dataset->parts.size()) return nullptr;
  return dataset->parts[index].description;
}

size_t aclmdlGetDatasetNumBuffers(const aclmdlDataset* dataset) {
  return dataset != nullptr ? dataset->parts.size() : 0;
}

aclDataBuffer* aclmdlGetDatasetBuffer(const aclmdlDataset* dataset, size_t index) {
  if (dataset == nullptr || index >= dataset->parts.size()) return nullptr;
  return dataset->parts[index].buffer;
}
