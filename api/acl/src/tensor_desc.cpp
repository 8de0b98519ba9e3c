#include <array>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include <acl/acl.h>

#include "api/acl/src/call.hpp"
#include "api/acl/src/data_object.hpp"

using namespace troupe;
using namespace troupe::acl;

/// See acl_base.h: what a tensor is like. It owns no data.
struct aclTensorDesc {
  aclDataType type = ACL_DT_UNDEFINED;
  aclFormat format = ACL_FORMAT_UNDEFINED;
  aclFormat storage_format = ACL_FORMAT_UNDEFINED;
  aclFormat origin_format = ACL_FORMAT_UNDEFINED;
  std::vector<std::int64_t> shape;
  std::vector<std::int64_t> storage_shape;
  std::vector<std::int64_t> origin_shape;
  std::vector<std::array<std::int64_t, 2>> shape_range;
  std::vector<std::array<std::int64_t, 2>> value_range;
  std::string name;
  std::string dynamic_input;
  void* constant = nullptr;
  std::size_t constant_bytes = 0;
  aclMemType placement = ACL_MEMTYPE_DEVICE;
};

namespace {

status need(const char* call, bool good) {
  return good ? status{}
              : bad_argument(std::string(call) + ": an argument is null or out of range");
}

// The description that a program names; null, which no call takes, for what is none.
template <class Desc>
aclTensorDesc* look(Desc* handle) {
  auto* const found = object_of(handle);
  if (found == nullptr && handle != nullptr) throw error(invalid_handle("tensor description"));
  return found;
}

bool is_shape(int count, const std::int64_t* dims) {
  return count >= 0 && count <= ACL_MAX_DIM_CNT && (count == 0 || dims != nullptr);
}

// Sets one field of what `handle` names if all arguments are good.
template <class Field, class Value>
aclError set(const char* name, aclTensorDesc* handle, bool good, Field field, Value&& value) {
  return call([&]() -> status {
    auto* const desc = look(handle);
    if (auto s = need(name, desc != nullptr && good); !s.ok()) return s;
    desc->*field = value();
    return {};
  });
}

template <class Field>
aclError set_shape(const char* name, aclTensorDesc* desc, int count, const std::int64_t* dims,
                   Field field) {
  return set(name, desc, is_shape(count, dims), field,
             [&] { return std::vector<std::int64_t>(dims, dims + count); });
}

template <class Field>
aclError set_ranges(const char* name, aclTensorDesc* desc, std::size_t count,
                    std::int64_t (*ranges)[2], Field field) {
  const bool good = count <= ACL_MAX_DIM_CNT && (count == 0 || ranges != nullptr);
  return set(name, desc, good, field, [&] {
    std::vector<std::array<std::int64_t, 2>> made;
    for (std::size_t i = 0; i < count; ++i)
      made.push_back({ranges[i][0], ranges[i][1]});
    return made;
  });
}

// Elements, or 0 for a shape with a dimension that is not known or a number that does not fit.
std::size_t elements_of(const aclTensorDesc& desc) {
  std::size_t product = 1;
  for (const auto each : desc.shape) {
    if (each <= 0) return 0;
    const auto size = static_cast<std::size_t>(each);
    if (product > std::numeric_limits<std::size_t>::max() / size) return 0;
    product *= size;
  }
  return product;
}

}  // namespace

aclTensorDesc* aclCreateTensorDesc(aclDataType dataType, int numDims, const int64_t* dims,
                                   aclFormat format) {
  return call_for<aclTensorDesc*>(nullptr, [&]() -> aclTensorDesc* {
    if (!is_shape(numDims, dims)) {
      (void)report(need("aclCreateTensorDesc", false));
      return nullptr;
    }
    auto made = std::make_shared<aclTensorDesc>();
    made->type = dataType;
    made->format = made->storage_format = made->origin_format = format;
    made->shape.assign(dims, dims + numDims);
    return hold(std::move(made));
  });
}

void aclDestroyTensorDesc(const aclTensorDesc* desc) {
  if (desc != nullptr) (void)call([&] { return let_go("aclDestroyTensorDesc", desc); });
}

aclDataType aclGetTensorDescType(const aclTensorDesc* handle) {
  const auto* const desc = object_of(handle);
  return desc != nullptr ? desc->type : ACL_DT_UNDEFINED;
}

aclFormat aclGetTensorDescFormat(const aclTensorDesc* handle) {
  const auto* const desc = object_of(handle);
  return desc != nullptr ? desc->format : ACL_FORMAT_UNDEFINED;
}

size_t aclGetTensorDescElementCount(const aclTensorDesc* handle) {
  const auto* const desc = object_of(handle);
  return desc != nullptr ? elements_of(*desc) : 0;
}

size_t aclGetTensorDescSize(const aclTensorDesc* handle) {
  const auto* const desc = object_of(handle);
  return desc != nullptr ? elements_of(*desc) * aclDataTypeSize(desc->type) : 0;
}

size_t aclGetTensorDescNumDims(const aclTensorDesc* handle) {
  const auto* const desc = object_of(handle);
  return desc != nullptr ? desc->shape.size() : 0;
}

int64_t aclGetTensorDescDim(const aclTensorDesc* handle, size_t index) {
  const auto* const desc = object_of(handle);
  return desc != nullptr && index < desc->shape.size() ? desc->shape[index] : -1;
}

aclError aclGetTensorDescDimV2(const aclTensorDesc* handle, size_t index, int64_t* dimSize) {
  return call([&]() -> status {
    const auto* const desc = look(handle);
    const bool good = desc != nullptr && dimSize != nullptr && index < desc->shape.size();
    if (auto s = need("aclGetTensorDescDimV2", good); !s.ok()) return s;
    *dimSize = desc->shape[index];
    return {};
  });
}

aclError aclGetTensorDescDimRange(const aclTensorDesc* handle, size_t index, size_t dimRangeNum,
                                  int64_t* dimRange) {
  return call([&]() -> status {
    const auto* const desc = look(handle);
    const bool good = desc != nullptr && dimRange != nullptr &&
                      dimRangeNum >= ACL_TENSOR_SHAPE_RANGE_NUM && index < desc->shape_range.size();
    if (auto s = need("aclGetTensorDescDimRange", good); !s.ok()) return s;
    dimRange[0] = desc->shape_range[index][0];
    dimRange[1] = desc->shape_range[index][1];
    return {};
  });
}

aclError aclSetTensorShapeRange(aclTensorDesc* desc, size_t dimsCount, int64_t (*dimsRange)[2]) {
  return set_ranges("aclSetTensorShapeRange", desc, dimsCount, dimsRange,
                    &aclTensorDesc::shape_range);
}

aclError aclSetTensorValueRange(aclTensorDesc* desc, size_t valueCount, int64_t (*valueRange)[2]) {
  return set_ranges("aclSetTensorValueRange", desc, valueCount, valueRange,
                    &aclTensorDesc::value_range);
}

void aclSetTensorDescName(aclTensorDesc* desc, const char* name) {
  (void)set("aclSetTensorDescName", desc, true, &aclTensorDesc::name,
            [&] { return std::string(name != nullptr ? name : ""); });
}

const char* aclGetTensorDescName(aclTensorDesc* handle) {
  const auto* const desc = object_of(handle);
  return desc != nullptr ? desc->name.c_str() : "";
}

aclError aclSetTensorStorageFormat(aclTensorDesc* desc, aclFormat format) {
  return set("aclSetTensorStorageFormat", desc, true, &aclTensorDesc::storage_format,
             [&] { return format; });
}

aclError aclSetTensorFormat(aclTensorDesc* desc, aclFormat format) {
  return set("aclSetTensorFormat", desc, true, &aclTensorDesc::storage_format,
             [&] { return format; });
}

aclError aclSetTensorOriginFormat(aclTensorDesc* desc, aclFormat format) {
  return set("aclSetTensorOriginFormat", desc, true, &aclTensorDesc::origin_format,
             [&] { return format; });
}

aclError aclSetTensorStorageShape(aclTensorDesc* desc, int numDims, const int64_t* dims) {
  return set_shape("aclSetTensorStorageShape", desc, numDims, dims, &aclTensorDesc::storage_shape);
}

aclError aclSetTensorShape(aclTensorDesc* desc, int numDims, const int64_t* dims) {
  return set_shape("aclSetTensorShape", desc, numDims, dims, &aclTensorDesc::storage_shape);
}

aclError aclSetTensorOriginShape(aclTensorDesc* desc, int numDims, const int64_t* dims) {
  return set_shape("aclSetTensorOriginShape", desc, numDims, dims, &aclTensorDesc::origin_shape);
}

aclError aclSetTensorDynamicInput(aclTensorDesc* desc, const char* dynamicInputName) {
  return set("aclSetTensorDynamicInput", desc, dynamicInputName != nullptr,
             &aclTensorDesc::dynamic_input, [&] { return std::string(dynamicInputName); });
}

aclError aclSetTensorConst(aclTensorDesc* desc, void* dataBuffer, size_t length) {
  const bool good = dataBuffer != nullptr && length != 0;
  const auto outcome =
      set("aclSetTensorConst", desc, good, &aclTensorDesc::constant, [&] { return dataBuffer; });
  if (auto* const found = object_of(desc); outcome == ACL_SUCCESS && found != nullptr) {
    found->constant_bytes = length;
  }
  return outcome;
}

aclError aclSetTensorPlaceMent(aclTensorDesc* desc, aclMemType memType) {
  const bool good =
      memType >= ACL_MEMTYPE_DEVICE && memType <= ACL_MEMTYPE_HOST_COMPILE_INDEPENDENT;
  return set("aclSetTensorPlaceMent", desc, good, &aclTensorDesc::placement,
             [&] { return memType; });
}
