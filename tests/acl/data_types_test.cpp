#include <cmath>
#include <limits>

#include <acl/acl.h>
#include <gtest/gtest.h>

namespace {

TEST(acl_data_types, each_half_comes_back_from_a_float_as_it_was) {
  for (unsigned bits = 0; bits <= 0xFFFF; ++bits) {
    const auto half = static_cast<aclFloat16>(bits);
    const auto wide = aclFloat16ToFloat(half);
    if (std::isnan(wide)) {
      EXPECT_TRUE(std::isnan(aclFloat16ToFloat(aclFloatToFloat16(wide))));
    } else {
      ASSERT_EQ(aclFloatToFloat16(wide), half) << bits;
    }
  }
}

TEST(acl_data_types, floats_round_to_the_nearest_half_and_to_even_at_a_tie) {
  EXPECT_EQ(aclFloatToFloat16(1.0F), 0x3C00);
  EXPECT_EQ(aclFloatToFloat16(1.0F + 0x1p-11F), 0x3C00);
  EXPECT_EQ(aclFloatToFloat16(1.0F + 0x3p-11F), 0x3C02);
  EXPECT_EQ(aclFloatToFloat16(65519.0F), 0x7BFF);
  EXPECT_EQ(aclFloatToFloat16(65520.0F), 0x7C00);
  EXPECT_EQ(aclFloatToFloat16(-1e30F), 0xFC00);
  EXPECT_EQ(aclFloatToFloat16(0x1p-25F), 0x0000);
  EXPECT_EQ(aclFloatToFloat16(0x1.8p-25F), 0x0001);
  EXPECT_EQ(aclFloatToFloat16(std::numeric_limits<float>::denorm_min()), 0x0000);
}

TEST(acl_data_types, sizes_of_elements) {
  EXPECT_EQ(aclDataTypeSize(ACL_FLOAT), 4U);
  EXPECT_EQ(aclDataTypeSize(ACL_BF16), 2U);
  EXPECT_EQ(aclDataTypeSize(ACL_COMPLEX128), 16U);
  EXPECT_EQ(aclDataTypeSize(static_cast<aclDataType>(63)), 0U);
}

TEST(acl_data_types, data_sets_list_buffers) {
  int number = 0;
  auto* const buffer = aclCreateDataBuffer(&number, sizeof number);
  ASSERT_NE(buffer, nullptr);
  EXPECT_EQ(aclGetDataBufferAddr(buffer), &number);
  EXPECT_EQ(aclGetDataBufferSizeV2(buffer), sizeof number);
  EXPECT_EQ(aclUpdateDataBuffer(buffer, nullptr, 0), ACL_SUCCESS);
  EXPECT_EQ(aclGetDataBufferSizeV2(buffer), 0U);
  auto* const set = aclmdlCreateDataset();
  EXPECT_EQ(aclmdlAddDatasetBuffer(set, buffer), ACL_SUCCESS);
  EXPECT_EQ(aclmdlGetDatasetNumBuffers(set), 1U);
  EXPECT_EQ(aclmdlGetDatasetBuffer(set, 0), buffer);
  EXPECT_EQ(aclmdlGetDatasetBuffer(set, 1), nullptr);
  EXPECT_EQ(aclmdlAddDatasetBuffer(nullptr, buffer), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclmdlDestroyDataset(set), ACL_SUCCESS);
  EXPECT_EQ(aclDestroyDataBuffer(buffer), ACL_SUCCESS);
  EXPECT_EQ(aclDestroyDataBuffer(nullptr), ACL_ERROR_INVALID_PARAM);
}

}  // namespace
