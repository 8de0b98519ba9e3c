/* Single operators: declared, not supported by this library. */
#ifndef TROUPE_ACL_OP_H
#define TROUPE_ACL_OP_H

#include "acl_base.h"

#ifdef __cplusplus
extern "C" {
#endif

static const int ACL_COMPILE_FLAG_BIN_SELECTOR = 1;
#define ACL_OP_DUMP_OP_AICORE_ARGS 0x00000001U

typedef struct aclopHandle aclopHandle;
typedef struct aclopAttr aclopAttr;
typedef struct aclopKernelDesc aclopKernelDesc;
typedef void (*aclDataDeallocator)(void* data, size_t length);

typedef enum aclEngineType {
  ACL_ENGINE_SYS = 0,
  ACL_ENGINE_AICORE = 1,
  ACL_ENGINE_VECTOR = 2
} aclopEngineType;

typedef aclError (*aclopCompileFunc)(int numInputs, const aclTensorDesc* const* inputDesc,
    int numOutputs, const aclTensorDesc* const* outputDesc, const aclopAttr* opAttr,
    aclopKernelDesc* aclopKernelDesc);

/* Single operators. */
ACL_FUNC_VISIBILITY aclError aclopSetModelDir(const char* modelDir);
ACL_FUNC_VISIBILITY aclError aclopLoad(const void* model, size_t modelSize);
ACL_DEPRECATED_MESSAGE("use aclopExecuteV2")
ACL_FUNC_VISIBILITY aclError aclopExecute(const char* opType, int numInputs,
    const aclTensorDesc* const* inputDesc, const aclDataBuffer* const* inputs, int numOutputs,
    const aclTensorDesc* const* outputDesc, aclDataBuffer* const* outputs, const aclopAttr* attr,
    aclrtStream stream);
ACL_FUNC_VISIBILITY aclError aclopExecuteV2(const char* opType, int numInputs,
    aclTensorDesc** inputDesc, aclDataBuffer** inputs, int numOutputs, aclTensorDesc** outputDesc,
    aclDataBuffer** outputs, aclopAttr* attr, aclrtStream stream);
ACL_FUNC_VISIBILITY aclError aclopCreateHandle(const char* opType, int numInputs,
    const aclTensorDesc* const* inputDesc, int numOutputs, const aclTensorDesc* const* outputDesc,
    const aclopAttr* opAttr, aclopHandle** handle);
ACL_FUNC_VISIBILITY void aclopDestroyHandle(aclopHandle* handle);
ACL_FUNC_VISIBILITY aclError aclopExecWithHandle(aclopHandle* handle, int numInputs,
    const aclDataBuffer* const* inputs, int numOutputs, aclDataBuffer* const* outputs,
    aclrtStream stream);
ACL_FUNC_VISIBILITY aclError aclopCast(const aclTensorDesc* srcDesc, const aclDataBuffer* srcBuffer,
    const aclTensorDesc* dstDesc, aclDataBuffer* dstBuffer, uint8_t truncate, aclrtStream stream);
ACL_FUNC_VISIBILITY aclError aclopCreateHandleForCast(aclTensorDesc* srcDesc,
    aclTensorDesc* dstDesc, uint8_t truncate, aclopHandle** handle);
ACL_FUNC_VISIBILITY aclError aclopCreateKernel(const char* opType, const char* kernelId,
    const char* kernelName, void* binData, int binSize, aclopEngineType enginetype,
    aclDataDeallocator deallocator);
ACL_FUNC_VISIBILITY aclError aclopRegisterCompileFunc(const char* opType, aclopCompileFunc func);
ACL_FUNC_VISIBILITY aclError aclopUnregisterCompileFunc(const char* opType);
ACL_FUNC_VISIBILITY aclError aclopSetKernelArgs(aclopKernelDesc* kernelDesc, const char* kernelId,
    uint32_t blockDim, const void* args, uint32_t argSize);
ACL_FUNC_VISIBILITY aclError aclopSetKernelWorkspaceSizes(aclopKernelDesc* kernelDesc,
    int numWorkspaces, size_t* workspaceSizes);
ACL_FUNC_VISIBILITY aclError aclopUpdateParams(const char* opType, int numInputs,
    const aclTensorDesc* const* inputDesc, int numOutputs, const aclTensorDesc* const* outputDesc,
    const aclopAttr* attr);
ACL_FUNC_VISIBILITY aclError aclopSetMaxOpQueueNum(uint64_t maxOpNum);
ACL_FUNC_VISIBILITY aclError aclopInferShape(const char* opType, int numInputs,
    aclTensorDesc** inputDesc, aclDataBuffer** inputs, int numOutputs, aclTensorDesc** outputDesc,
    aclopAttr* attr);

/* Attributes of operators. */
ACL_FUNC_VISIBILITY aclopAttr* aclopCreateAttr(void);
ACL_FUNC_VISIBILITY void aclopDestroyAttr(const aclopAttr* attr);
ACL_FUNC_VISIBILITY aclError aclopSetAttrBool(aclopAttr* attr, const char* attrName,
    uint8_t attrValue);
ACL_FUNC_VISIBILITY aclError aclopSetAttrInt(aclopAttr* attr, const char* attrName,
    int64_t attrValue);
ACL_FUNC_VISIBILITY aclError aclopSetAttrFloat(aclopAttr* attr, const char* attrName,
    float attrValue);
ACL_FUNC_VISIBILITY aclError aclopSetAttrString(aclopAttr* attr, const char* attrName,
    const char* attrValue);
ACL_FUNC_VISIBILITY aclError aclopSetAttrDataType(aclopAttr* attr, const char* attrName,
    aclDataType attrValue);
ACL_FUNC_VISIBILITY aclError aclopSetAttrListDataType(aclopAttr* attr, const char* attrName,
    int numValues, const aclDataType* values);
ACL_FUNC_VISIBILITY aclError aclopSetAttrListBool(aclopAttr* attr, const char* attrName,
    int numValues, const uint8_t* values);
ACL_FUNC_VISIBILITY aclError aclopSetAttrListInt(aclopAttr* attr, const char* attrName,
    int numValues, const int64_t* values);
ACL_FUNC_VISIBILITY aclError aclopSetAttrListFloat(aclopAttr* attr, const char* attrName,
    int numValues, const float* values);
ACL_FUNC_VISIBILITY aclError aclopSetAttrListString(aclopAttr* attr, const char* attrName,
    int numValues, const char** values);
ACL_FUNC_VISIBILITY aclError aclopSetAttrListListInt(aclopAttr* attr, const char* attrName,
    int numLists, const int* numValues, const int64_t* const* values);

/* Dumps of what operators compute. */
ACL_FUNC_VISIBILITY aclError aclopStartDumpArgs(uint32_t dumpType, const char* path);
ACL_FUNC_VISIBILITY aclError aclopStopDumpArgs(uint32_t dumpType);

#ifdef __cplusplus
}
#endif

#endif /* TROUPE_ACL_OP_H */
