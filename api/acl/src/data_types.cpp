#include <bit>
#include <cstdint>
#include <memory>

#include <acl/acl.h>

#include "api/acl/src/call.hpp"
#include "api/acl/src/data_object.hpp"

using namespace troupe;
using namespace troupe::acl;

/// See acl_base.h: an address and a size, of memory that somebody else owns.
struct aclDataBuffer {
  void* data;
  std::size_t size;
};

// Half precision: 1 bit sign, 5 bits exponent with bias 15, 10 bits fraction (IEEE 754 binary16).
float aclFloat16ToFloat(aclFloat16 value) {
  const auto sign = std::uint32_t{value} >> 15 << 31;
  auto exponent = std::uint32_t{value} >> 10 & 0x1FU;
  auto fraction = std::uint32_t{value} & 0x3FFU;
  if (exponent == 0x1FU) return std::bit_cast<float>(sign | 0x7F800000U | fraction << 13);
  if (exponent == 0) {
    if (fraction == 0) return std::bit_cast<float>(sign);
    exponent = 1;  // subnormal: shifted until it has the leading one that is not stored
    while ((fraction & 0x400U) == 0) {
      fraction <<= 1;
      --exponent;
    }
    fraction &= 0x3FFU;
  }
  return std::bit_cast<float>(sign | (exponent + 127 - 15) << 23 | fraction << 13);
}

// Rounds to the nearest, to even at a tie; what is too large becomes infinite.
aclFloat16 aclFloatToFloat16(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const auto sign = bits >> 16 & 0x8000U;
  const auto magnitude = bits & 0x7FFFFFFFU;
  if (magnitude > 0x7F800000U) {  // not a number: stays one
    return static_cast<aclFloat16>(sign | 0x7E00U | (magnitude >> 13 & 0x3FFU));
  }
  if (magnitude >= 0x47800000U) return static_cast<aclFloat16>(sign | 0x7C00U);
  std::uint32_t kept = 0;
  std::uint32_t rest = 0;
  std::uint32_t half = 0;
  if (magnitude < 0x38800000U) {  // below 2^-14: subnormal
    const auto shift = 126 - (magnitude >> 23);
    if (shift > 24) return static_cast<aclFloat16>(sign);
    const auto fraction = (magnitude & 0x7FFFFFU) | 0x800000U;
    kept = fraction >> shift;
    rest = fraction & ((1U << shift) - 1);
    half = 1U << (shift - 1);
  } else {
    kept = (magnitude - (112U << 23)) >> 13;
    rest = magnitude & 0x1FFFU;
    half = 0x1000U;
  }
  if (rest > half || (rest == half && (kept & 1U) != 0)) ++kept;
  return static_cast<aclFloat16>(sign | kept);
}

size_t aclDataTypeSize(aclDataType dataType) {
  switch (dataType) {
    case ACL_INT8:
    case ACL_UINT8:
    case ACL_BOOL:
    case ACL_HIFLOAT8:
    case ACL_FLOAT8_E5M2:
    case ACL_FLOAT8_E4M3FN:
    case ACL_FLOAT8_E8M0:
      return 1;
    case ACL_FLOAT16:
    case ACL_BF16:
    case ACL_INT16:
    case ACL_UINT16:
      return 2;
    case ACL_FLOAT:
    case ACL_INT32:
    case ACL_UINT32:
    case ACL_COMPLEX32:
      return 4;
    case ACL_INT64:
    case ACL_UINT64:
    case ACL_DOUBLE:
    case ACL_COMPLEX64:
      return 8;
    case ACL_COMPLEX128:
      return 16;
    default:
      return 0;  // of no size, or smaller than a byte
  }
}

aclDataBuffer* aclCreateDataBuffer(void* data, size_t size) {
  return call_for<aclDataBuffer*>(nullptr, [&] {
    return hold(std::make_shared<aclDataBuffer>(aclDataBuffer{data, size}));
  });
}

aclError aclDestroyDataBuffer(const aclDataBuffer* dataBuffer) {
  return call([&] { return let_go("aclDestroyDataBuffer", dataBuffer); });
}

aclError aclUpdateDataBuffer(aclDataBuffer* dataBuffer, void* data, size_t size) {
  return call([&]() -> status {
    if (dataBuffer == nullptr) return bad_argument("aclUpdateDataBuffer: dataBuffer is null");
    auto* const found = object_of(dataBuffer);
    if (found == nullptr) return invalid_handle("data buffer");
    *found = {data, size};
    return {};
  });
}

void* aclGetDataBufferAddr(const aclDataBuffer* dataBuffer) {
  const auto* const found = object_of(dataBuffer);
  return found != nullptr ? found->data : nullptr;
}

size_t aclGetDataBufferSizeV2(const aclDataBuffer* dataBuffer) {
  const auto* const found = object_of(dataBuffer);
  return found != nullptr ? found->size : 0;
}

uint32_t aclGetDataBufferSize(const aclDataBuffer* dataBuffer) {
  return static_cast<std::uint32_t>(aclGetDataBufferSizeV2(dataBuffer));
}
