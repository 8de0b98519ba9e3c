#include <array>
#include <string>

#include <acl/acl.h>
#include <gtest/gtest.h>

namespace {

TEST(acl_tensor_desc, it_says_what_it_was_told) {
  const std::array<std::int64_t, 3> dims{2, 3, 4};
  auto* const desc = aclCreateTensorDesc(ACL_FLOAT16, 3, dims.data(), ACL_FORMAT_ND);
  ASSERT_NE(desc, nullptr);
  EXPECT_EQ(aclGetTensorDescType(desc), ACL_FLOAT16);
  EXPECT_EQ(aclGetTensorDescFormat(desc), ACL_FORMAT_ND);
  EXPECT_EQ(aclGetTensorDescNumDims(desc), 3U);
  EXPECT_EQ(aclGetTensorDescElementCount(desc), 24U);
  EXPECT_EQ(aclGetTensorDescSize(desc), 48U);
  std::int64_t size = 7;
  EXPECT_EQ(aclGetTensorDescDimV2(desc, 1, &size), ACL_SUCCESS);
  EXPECT_EQ(size, 3);
  EXPECT_EQ(aclGetTensorDescDimV2(desc, 3, &size), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(size, 3);
  aclSetTensorDescName(desc, "input");
  EXPECT_EQ(std::string(aclGetTensorDescName(desc)), "input");
  std::int64_t ranges[3][2] = {{1, 2}, {3, 3}, {4, -1}};
  EXPECT_EQ(aclSetTensorShapeRange(desc, 3, ranges), ACL_SUCCESS);
  std::array<std::int64_t, 2> range{};
  EXPECT_EQ(aclGetTensorDescDimRange(desc, 2, 2, range.data()), ACL_SUCCESS);
  EXPECT_EQ(range[1], -1);
  EXPECT_EQ(aclGetTensorDescDimRange(desc, 2, 1, range.data()), ACL_ERROR_INVALID_PARAM);
  aclDestroyTensorDesc(desc);
}

TEST(acl_tensor_desc, a_shape_that_cannot_be_is_refused_or_has_no_size) {
  const std::array<std::int64_t, 2> huge{INT64_MAX, INT64_MAX};
  EXPECT_EQ(aclCreateTensorDesc(ACL_FLOAT, -1, huge.data(), ACL_FORMAT_ND), nullptr);
  EXPECT_EQ(aclCreateTensorDesc(ACL_FLOAT, 2, nullptr, ACL_FORMAT_ND), nullptr);
  EXPECT_EQ(aclCreateTensorDesc(ACL_FLOAT, 129, huge.data(), ACL_FORMAT_ND), nullptr);
  auto* const desc = aclCreateTensorDesc(ACL_FLOAT, 2, huge.data(), ACL_FORMAT_ND);
  EXPECT_EQ(aclGetTensorDescElementCount(desc), 0U);
  EXPECT_EQ(aclSetTensorShape(desc, 2, nullptr), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclSetTensorShape(nullptr, 0, nullptr), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclSetTensorPlaceMent(desc, static_cast<aclMemType>(3)), ACL_ERROR_INVALID_PARAM);
  aclDestroyTensorDesc(desc);
  aclDestroyTensorDesc(nullptr);
}

}  // namespace
